import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MCPClient } from "../../../packages/toolyard/src/client.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

/** Records what it receives, and answers only messages that a server of 2024-11-05 knows. */
const SERVER = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const INFO = { capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(process.argv[2] ?? new URL("seen.txt", import.meta.url).pathname, line + "\\n");
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say(id, { ...INFO, protocolVersion: params.protocolVersion });
  if (method === "tools/list") say(id, { tools: [{ name: "t", inputSchema: { type: "object" } }] });
});
`;

let folder: ToolFolder;
beforeEach(() => {
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

async function firstMessage(settings: object, isScript: boolean): Promise<unknown> {
  const file = folder.write("server.mjs", SERVER.replaceAll("\\\\n", "\\n"));
  const server = isScript ? file : { command: [process.execPath, file] };
  await using client = new MCPClient(server as never, {}, { logger: SILENT_LOGGER, ...settings });
  await client.start();
  expect(await client.listTools()).toHaveLength(1);
  return JSON.parse(readFileSync(`${folder.path}/seen.txt`, "utf8").split("\n")[0]!);
}

describe("R7: the first message", () => {
  test.each([
    [{ protocol_version: "2024-11-05" }, "2024-11-05", true],
    [{ protocolVersion: "2025-03-26" }, "2025-03-26", false],
    [{ protocol_version: "2024-11-05", era: "legacy" }, "2024-11-05", false],
    [{ era: "legacy" }, "2025-11-25", true],
    [{ era: "legacy" }, "2025-11-25", false],
  ])("for the settings %j is initialize of %s", async (settings, protocolVersion, isScript) => {
    expect(await firstMessage(settings, isScript)).toMatchObject({ method: "initialize", params: { protocolVersion } });
  });

  test.each([{ protocol_version: "2019-01-01" }, { protocol_version: 5 }, { era: "old" }])(
    "the settings %j are refused",
    (settings) => {
      expect(() => new MCPClient("server.mjs", {}, settings as never)).toThrow(/must be one of/);
    },
  );
});
