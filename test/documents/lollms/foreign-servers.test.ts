import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { RemoteMCPBinding, StandardMCPBinding } from "../../../packages/toolyard/src/bindings.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { startTools } from "../tool-server.ts";
import { bindingsFolder } from "./bindings-folder.ts";

const SERVER = fileURLToPath(new URL("../rag/library-server.mjs", import.meta.url));
const good = { command: [process.execPath, SERVER] };
const logger = SILENT_LOGGER;
const { kept } = bindingsFolder();

function standard(servers: Readonly<Record<string, unknown>>): StandardMCPBinding {
  return kept(new StandardMCPBinding({ initial_servers: servers as never, logger }));
}

async function aliases(
  binding: StandardMCPBinding | RemoteMCPBinding,
  options: object = {},
): Promise<readonly string[]> {
  const names = (await binding.discoverTools(options)).map(({ name }) => name.split("::", 1)[0]!);
  return [...new Set(names)].toSorted();
}

describe("entries pasted from a client's file", () => {
  test("L51: keys of clients are used, or reported and ignored; every server is available", async () => {
    const binding = standard({
      claude: { type: "stdio", command: process.execPath, args: [SERVER], env: {} },
      cline: { ...good, disabled: false, autoApprove: ["where"], timeout: 60, transport: "stdio" },
      off: { command: ["toolyard-no-such-program"], disabled: true },
      good,
    });
    expect(await aliases(binding)).toEqual(["claude", "cline", "good"]);
    expect(binding.diagnostics).toEqual([{ source: "cline", message: expect.stringContaining("`autoApprove`") }]);
  });

  test.each([
    ["an unset variable", { ...good, env: { KEY: "${CALC_TEST_UNSET}" } }, "CALC_TEST_UNSET"],
    ["an unset variable of an editor", { ...good, env: { KEY: "${env:CALC_TEST_UNSET}" } }, "CALC_TEST_UNSET"],
    ["an input of an editor", { ...good, env: { KEY: "${input:api-key}" } }, "API_KEY"],
    ["a file of variables that is absent", { ...good, env_file: "/nowhere/.env" }, "/nowhere/.env"],
    ["an option of another type", { ...good, enabled: "maybe" }, "enabled"],
    ["an unknown transport", { ...good, type: "sse" }, "RemoteMCPBinding"],
    ["a misspelt option", { ...good, inherit_en: [] }, "inherit_env"],
    ["no object", null, "must be an object"],
  ])("L6, L51: %s excludes only its own server", async (_what, bad, words) => {
    const binding = standard({ bad, good });
    expect(await aliases(binding)).toEqual(["good"]);
    expect(binding.diagnostics).toEqual([{ source: "bad", message: expect.stringContaining(words) }]);
    expect(await binding.executeTool("good::add_numbers", { a: 1, b: 2 })).toMatchObject({ status_code: 200 });
  });

  test("L51: a variable set later adds its server at the next forced discovery", async () => {
    const binding = standard({ late: { ...good, env: { KEY: "${CALC_TEST_LATE}" } }, good });
    expect(await aliases(binding)).toEqual(["good"]);
    vi.stubEnv("CALC_TEST_LATE", "value");
    expect(await aliases(binding, { force_refresh: true })).toEqual(["good", "late"]);
    expect(binding.diagnostics).toEqual([]);
  });

  test("L54: add_server refuses an unset variable and keeps the existing server", async () => {
    const binding = standard({ good });
    expect(await binding.add_server("good", good.command, { env: { KEY: "${CALC_TEST_UNSET}" } })).toBe(false);
    expect(await binding.add_server("new", good.command, { env: { KEY: "${CALC_TEST_UNSET}" } })).toBe(false);
    expect(await binding.add_server("pasted", good.command, { type: "stdio", autoApprove: [] } as never)).toBe(true);
    expect(binding.servers).toEqual(["good", "pasted"]);
    expect(await aliases(binding)).toEqual(["good", "pasted"]);
  });

  test("L61: a remote server with a client's keys or an unset variable does not affect the others", async () => {
    await using server = await startTools({ one: () => "1" });
    const servers_infos = {
      pasted: { type: "http", url: server.url, autoApprove: [], headers: { "X-Own": "1" } },
      token: { server_url: server.url, auth_config: { type: "bearer", token: "${CALC_TEST_UNSET}" } },
      off: { url: server.url, disabled: true },
      local: { command: ["node"] },
      good: { server_url: server.url },
    };
    const binding = kept(new RemoteMCPBinding({ servers_infos: servers_infos as never, logger }));
    expect(await aliases(binding)).toEqual(["good", "pasted"]);
    expect(binding.diagnostics.map(({ source }) => source).toSorted()).toEqual(["local", "pasted", "token"]);
    expect(server.seen.some(({ headers }) => headers["x-own"] === "1")).toBe(true);
  });
});
