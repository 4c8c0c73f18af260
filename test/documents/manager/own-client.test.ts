import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { FailError } from "../../../packages/toolyard/src/core/errors.ts";
import { fail } from "../../../packages/toolyard/src/core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { MCPManager, type ClientLine, type ManagerClient } from "../../../packages/toolyard/src/manager.ts";
import { listen } from "../../fixtures/http-servers.ts";

const MANAGER = new URL("../../../packages/toolyard/dist/manager.js", import.meta.url).href;
const managers: MCPManager[] = [];
afterEach(async () => void (await Promise.all(managers.splice(0).map((manager) => manager.close()))));

function open(client: unknown, registry?: ConstructorParameters<typeof MCPManager>[0]): MCPManager {
  const manager = new MCPManager(registry, { logger: SILENT_LOGGER, client: client as never, attempts: 1 });
  managers.push(manager);
  return manager;
}

describe("M13: a custom client of the program", () => {
  const calling =
    (callTool: ManagerClient["callTool"], seen: ClientLine[] = []) =>
    (line: ClientLine) => {
      seen.push(line);
      return { callTool };
    };

  test("is created once for each server, and receives tool and arguments", async () => {
    const [calls, lines]: [unknown[], ClientLine[]] = [[], []];
    const manager = open(
      calling(async (tool, args) => {
        calls.push([tool, args]);
        return { temperature: 21 };
      }, lines),
    );
    expect(await manager.callTool("get_weather", { location: "Paris" })).toEqual({ temperature: 21 });
    expect(await manager.call_tool("weather.get_weather", { location: "Tokyo" })).toEqual({ temperature: 21 });
    expect(calls).toEqual([
      ["get_weather", { location: "Paris" }],
      ["get_weather", { location: "Tokyo" }],
    ]);
    expect(lines).toMatchObject([{ host: "weather-mcp", port: 50_053, url: "http://weather-mcp:50053/mcp" }]);
  });

  test.each([
    [
      "a connection failure",
      () => Promise.reject(new Error("connect ECONNREFUSED")),
      "Weather MCP unavailable on port 50053",
    ],
    [
      "a timeout",
      () => Promise.reject(new FailError(fail("timeout", "Timed out."))),
      "Weather MCP unavailable on port 50053",
    ],
    [
      "malformed data",
      () => Promise.reject(new FailError(fail("malformed", "No."))),
      "Weather MCP unavailable on port 50053",
    ],
    [
      "a throw",
      () => {
        throw new TypeError("boom");
      },
      "Weather MCP unavailable on port 50053",
    ],
    ["a limit", () => Promise.reject(new FailError(fail("limited", "HTTP 429."))), "Weather MCP: HTTP 429."],
  ])("M5: returns the standard error object for %s", async (_what, callTool, error) => {
    expect(await open(calling(callTool)).callTool("get_weather", {})).toEqual({ error });
  });

  test("M6: an unknown tool creates no client", async () => {
    const lines: ClientLine[] = [];
    expect(await open(calling(async () => 1, lines)).callTool("get_wether")).toMatchObject({
      error: expect.stringContaining("Unknown tool: get_wether"),
    });
    expect(lines).toEqual([]);
  });

  test("calls the tool by its listed name, and calls the client's start and stop if it has them", async () => {
    const events: string[] = [];
    const manager = open(() => ({
      start: async () => void events.push("start"),
      stop: async () => void events.push("stop"),
      listTools: async () => [{ name: "get_weather_tool", description: "", input_schema: {} }],
      callTool: async (tool: string) => events.push(tool),
    }));
    await manager.callTool("get_weather", {});
    await manager.close();
    expect(events).toEqual(["start", "get_weather_tool", "stop"]);
  });

  test("a hanging client ends with the call's time limit", async () => {
    const manager = open(calling(() => new Promise(() => {})));
    expect(await manager.callTool("get_weather", {}, { timeout: "20ms" })).toEqual({
      error: "Weather MCP unavailable on port 50053",
    });
  });

  test("M13: a program waits for the time limit of a client that hangs without a connection", async () => {
    const program =
      `import { MCPManager } from ${JSON.stringify(MANAGER)};\n` +
      'const line = { joke: { host: "joke-mcp", port: 50055 } };\n' +
      "const client = () => ({ callTool: () => new Promise(() => {}) });\n" +
      'const manager = new MCPManager(line, { timeout: "50ms", client });\n' +
      'console.log(JSON.stringify(await manager.callTool("joke", {})));\n';
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    expect(stdout.trim()).toBe('{"error":"Joke MCP unavailable on port 50055"}');
  });

  test.each([[{}], [{ callTool: 5 }], [null], [undefined]])(
    "reports that a client %j has no `callTool`",
    async (client) => {
      expect(await open(() => client).callTool("get_weather")).toEqual({
        error: "The client of get_weather has no method `callTool`.",
      });
    },
  );

  test("refuses a `client` that is not a function", () => {
    expect(() => open({ callTool: () => 1 })).toThrow("`client` must be a function that returns a client");
  });
});

test("M4: the error for HTTP 429 names the service", async () => {
  await using server = await listen(createServer((_request, response) => response.writeHead(429).end()));
  const manager = open(undefined, { get_weather: { host: "127.0.0.1", port: server.port } });
  expect(await manager.callTool("get_weather", {})).toMatchObject({ error: expect.stringMatching(/Weather MCP/) });
});
