import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Desk } from "../cli/harness.ts";
import { startProviders, type Providers } from "../fixtures/services/providers.ts";

const TWO_ROOM = readFileSync(new URL("../fixtures/gnn/two_room.md", import.meta.url), "utf8");

let desk: Desk;

beforeEach(async () => {
  desk = await Desk.create({ "models/two_room.md": TWO_ROOM, "secret.md": TWO_ROOM });
});
afterEach(() => desk[Symbol.asyncDispose]());

/** Writes the configuration and runs `toolyard …` on it. */
async function toolyard(config: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  await desk.write("toolyard.toml", config);
  return desk.run(args, { env });
}

describe("services of a hub", () => {
  test("lists their tools from files of the package, and starts no service", async () => {
    const all = "datetime = true\nweb_search = true\nweather = true\ngeocoding = true\ngnn = true\n";
    const { stdout } = await toolyard(`[services]\n${all}`, ["list", "--json"]);
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["get_current_datetime", "search_ddgs", "get_weather", "geocode", "gnn.check"]),
    );
    expect((await desk.run(["check"])).stdout).toContain("Everything answers.");
  });

  test("starts a service at its first use, also under its alternative names", async () => {
    for (const name of ["get_current_datetime", "get_current_datetime_tool"]) {
      const { stdout } = await toolyard("[services]\ndatetime = true\n", ["call", name, "timezone=UTC"]);
      expect(JSON.parse(stdout)).toMatchObject({ timezone: "UTC" });
    }
  });

  test("omits a service that is not configured", async () => {
    const { code, stderr } = await toolyard("[services]\ndatetime = true\n", ["call", "geocode", "address=Tokyo"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("geocode")]);
  });

  test("a call without prefix succeeds if an MCP server offers the same name as a service", async () => {
    const server = JSON.stringify([
      process.execPath,
      new URL("../../packages/toolyard/dist/servers/datetime/main.js", import.meta.url).pathname,
      "--stdio",
    ]);
    const config = `[services]\ndatetime = true\n[mcp.stdio_servers.own]\ncommand = ${server}\nnamespace = ""\n`;
    const { stdout } = await toolyard(config, ["call", "get_current_datetime", "timezone=UTC"]);
    expect(JSON.parse(stdout)).toMatchObject({ timezone: "UTC" });
  });

  test("refuses an option that is not a boolean, by name", async () => {
    const { code, stderr } = await toolyard('[services]\ngnn = "yes please"\n', ["list"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("services.gnn")]);
  });

  describe("services that call providers", () => {
    let providers: Providers;

    beforeEach(async () => {
      providers = await startProviders();
    });
    afterEach(() => providers.close());

    test("read their variables from the hub's environment, and weather finds places itself", async () => {
      const config = "[services]\nweather = true\n";
      const { stdout } = await toolyard(config, ["call", "get_weather", "location=Tokyo"], providers.environment);
      expect(JSON.parse(stdout)).toMatchObject({ location: { name: "Tokyo" }, current: { temperature: 13 } });
    });
  });
});

describe("gnn in a hub", () => {
  const GNN = "[services]\ngnn = true\n";
  const ROOTS = `${GNN}[gnn]\nroots = ["models"]\n`;
  const check = ["call", "gnn_type_checker.type_check_gnn_file", "file_path=two_room.md"];

  test("G56: checks a file in one of the roots, with the hub in any folder", async () => {
    const { stdout } = await toolyard(ROOTS, check);
    expect(JSON.parse(stdout)).toMatchObject({ file_path: "two_room.md", is_valid: true });
  });

  test("without roots the error names the line to add, and with that line the check succeeds", async () => {
    const { code, stderr } = await toolyard(GNN, check);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Add the line `roots = ["/home/me/models"]` below [gnn]'),
    ]);
    const { stdout } = await toolyard(ROOTS, check);
    expect(JSON.parse(stdout)).toMatchObject({ is_valid: true });
  });

  test("S6: tools cannot read a file outside of the roots, but the user's own command can", async () => {
    const { stderr } = await toolyard(ROOTS, ["call", "gnn.check", "file_path=../secret.md"]);
    expect(stderr).toContain("is outside the folders");
    expect(await desk.run(["gnn", "check", "secret.md"])).toMatchObject({ code: 0 });
  });

  test("G54: accepts the older name of the export tool, and refuses a pickle with the reason", async () => {
    const args = ["gnn_file_path=two_room.md", "output_file_path=out.json"];
    const { stdout } = await toolyard(ROOTS, ["call", "export_gnn_to_json", ...args]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "success" });
    const { stderr } = await desk.run(["call", "export_gnn_to_python_pickle", ...args]);
    expect(stderr).toContain("because loading a pickle runs the code in it");
  });

  test("refuses a root that contains the path separator at the start", async () => {
    const sign = process.platform === "win32" ? ";" : ":";
    const { code, stderr } = await toolyard(`${GNN}[gnn]\nroots = ["a${sign}b"]\n`, ["list"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("`gnn.roots` must be paths without")]);
  });
});

describe("gnn in a core server", () => {
  test("G55: finds its modules one by one, with the same roots", async () => {
    const config = '[services]\ngnn = true\n[gnn]\nroots = ["models"]\n';
    const { stdout } = await toolyard(config, [
      "core",
      "execute",
      "meta.get_module_info",
      "--params",
      '{"module_name":"modules.export.mcp"}',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "success", result: { status: "loaded" } });
    const json = '{"gnn_file_path":"two_room.md","output_file_path":"out.json"}';
    const exported = await desk.run(["core", "execute", "export.export_gnn_to_json_mcp", "--params", json]);
    expect(JSON.parse(exported.stdout)).toMatchObject({ status: "success", result: { status: "success" } });
    const secret = '{"file_path":"../secret.md"}';
    const refused = await desk.run(["core", "execute", "type_check_gnn_file", "--params", secret]);
    expect([refused.code, JSON.parse(refused.stderr)]).toEqual([
      1,
      { status: "error", message: expect.stringContaining("is outside the folders") },
    ]);
  });
});
