import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Logger } from "../../src/core/ports.ts";
import { createHub, type HubConfig, type LibraryHub } from "../../src/index.ts";
import { ToolFolder } from "../support/tool-folder.ts";

let folder: ToolFolder;
let hub: LibraryHub | undefined;
let warnings: string[];

beforeEach(() => {
  folder = new ToolFolder();
  warnings = [];
});
afterEach(async () => {
  await hub?.close();
  hub = undefined;
  folder[Symbol.dispose]();
});

const logger: Logger = {
  debug: () => {},
  info: () => {},
  warning: (message) => void warnings.push(message),
  error: () => {},
  with: () => logger,
};

async function start(scripts: HubConfig["scripts"] = {}, more: HubConfig = {}): Promise<LibraryHub> {
  hub = await createHub({
    variables: {},
    logger,
    settings: { scripts: { tools_path: folder.path, ...scripts }, ...more },
  });
  return hub;
}

async function wordsFor(name: string): Promise<string> {
  const outcome = await hub!.call(name, {});
  return outcome.ok ? "" : `${outcome.kind}: ${outcome.message}`;
}

describe("a tool that is not offered", () => {
  test("is told with the reason that its source knows: a bad manifest, an option, a pin", async () => {
    folder.script("lost", "tool.sh", "echo");
    folder.remove("lost/tool.sh");
    folder.write("torn/tool.toml", 'name = "torn\n');
    folder.script("left", "tool.sh", "echo");
    folder.script("pinned", "tool.sh", "echo");
    folder.script("fine", "tool.sh", "echo");
    await start({ exclude: ["left"], pins: { pinned: "" } });
    expect(await wordsFor("lost")).toBe(
      "unknown_tool: Unknown tool: lost. It is not offered because `script` names `tool.sh`, which is not there.",
    );
    expect(await wordsFor("torn")).toMatch(/^unknown_tool: Unknown tool: torn\. It is not offered because .*line 1/);
    expect(await wordsFor("left")).toContain("because `include` and `exclude` of the source scripts leave it out.");
    expect(await wordsFor("pinned")).toContain("because `pins` approves nothing yet");
    expect(await wordsFor("fine")).toBe("");
    expect(await wordsFor("nothing")).not.toContain("not offered");
  });

  test("is told so on MCP to whoever has every right, and to nobody with narrowed rights", async () => {
    folder.script("lost", "tool.sh", "echo");
    folder.remove("lost/tool.sh");
    const tokens = { all: { token: "all-rights" }, some: { token: "some-rights", allow: ["fine*"] } };
    await start({}, { server: { port: 0, tokens } });
    const served = await hub!.serveFetch();
    const ask = async (token: string): Promise<string> => {
      const answer = await served.fetch(
        new Request("http://localhost/mcp", {
          method: "POST",
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "lost",
          },
          body: JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: {
              name: "lost",
              arguments: {},
              _meta: {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              },
            },
          }),
        }),
      );
      return answer.text();
    };
    expect(await ask("all-rights")).toContain(
      "Unknown tool: lost. It is not offered because `script` names `tool.sh`, which is not there.",
    );
    const narrowed = await ask("some-rights");
    expect(narrowed).toContain("lost");
    expect(narrowed).not.toContain("tool.sh");
  });

  test("a manifest that is refused is in the log when it is refused, once", async () => {
    folder.script("fine", "tool.sh", "echo");
    await start();
    await hub!.list();
    expect(warnings.join("\n")).not.toContain("not offered");
    folder.write("torn/tool.toml", 'name = "torn\n');
    await hub!.list();
    await hub!.list();
    expect(warnings.filter((line) => line.includes("torn/tool.toml is not offered: "))).toHaveLength(1);
    folder.write("torn/tool.toml", 'nothing = "here"\n');
    await hub!.list();
    expect(warnings.filter((line) => line.includes("torn/tool.toml is not offered: "))).not.toHaveLength(1);
  });
});
