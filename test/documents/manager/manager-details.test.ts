import { createServer } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { MCPManager, type Registry } from "../../../packages/toolyard/src/manager.ts";
import { Desk, exitOf, seen } from "../../cli/harness.ts";
import { listen, startLegacy } from "../../fixtures/http-servers.ts";

const managers: MCPManager[] = [];
afterEach(async () => void (await Promise.all(managers.splice(0).map((manager) => manager.close()))));

function open(registry: Registry, options: object = {}): MCPManager {
  const manager = new MCPManager(registry, { logger: SILENT_LOGGER, attempts: 1, ...options });
  managers.push(manager);
  return manager;
}

async function freePort(): Promise<number> {
  const server = await listen(createServer());
  await server.close();
  return server.port;
}

describe("service names in failures", () => {
  test.each([
    ["search_ddgs", "127.0.0.1", "Ddgs MCP"],
    ["get_current_datetime", "localhost", "Datetime MCP"],
    ["geocode", "127.0.0.1", "Geocoding MCP"],
    ["get_weather", "127.0.0.1", "Weather MCP"],
    ["web_search_tool", "127.0.0.1", "Ddgs MCP"],
    ["get_joke", "127.0.0.1", "Joke MCP"],
  ])("M4: %s at %s is named %s", async (tool, host, name) => {
    const port = await freePort();
    const manager = open({ [tool]: { host, port } });
    expect(await manager.callTool(tool, {})).toEqual({ error: `${name} unavailable on port ${port}` });
  });

  test("M4: `name` in the registry line takes precedence", async () => {
    const port = await freePort();
    const manager = open({ search_ddgs: { host: "127.0.0.1", port, name: "Find" } });
    expect(await manager.callTool("search_ddgs")).toEqual({ error: `Find MCP unavailable on port ${port}` });
  });
});

describe("lines of the registry", () => {
  test("M2: `host` refuses a URL and names `url`, which replaces host and port", async () => {
    await using server = await startLegacy();
    expect(() => open({ echo: { host: server.url, port: server.port } })).toThrow("Use `url` for a whole address");
    expect(() => open({ echo: { host: server.url } })).toThrow("Use `url` for a whole address");
    const manager = open({ echo: { url: server.url } });
    expect(await manager.callTool("echo", { text: "hi" })).toBe("hi");
    expect(manager.resolve("echo")).toMatchObject({ host: "127.0.0.1", port: server.port, url: server.url });
  });

  test("M2: an address without a response is reported with its port", async () => {
    const port = await freePort();
    const manager = open({ get_tides: { url: `http://127.0.0.1:${port}/mcp` } });
    expect(await manager.callTool("get_tides")).toEqual({ error: `Tides MCP unavailable on port ${port}` });
    expect(() => open({ get_tides: { url: "http://x/mcp", port: 1 } })).toThrow("`url` and `port` cannot be combined");
    expect(() => open({ get_tides: { url: "tides" } })).toThrow("`url` is not a valid address");
  });

  test.each([
    [
      { host: "tides-mcp", prot: 1, port: 2 },
      "The registry's line `get_tides` has no key `prot`. Did you mean `port`?",
    ],
    [{ host: "tides-mcp", port: 2, colour: "red" }, "has no key `colour`. Known keys: `host`, `port`, `url`"],
    [{ port: 2 }, "has no `host`. Give `host` and `port`, or the whole address as `url`."],
    [{ host: "tides-mcp" }, "has no `port`. Give it, or the whole address as `url`."],
    ["tides-mcp:50053", 'must be an object such as {host: "weather-mcp", port: 50053}'],
    [{ host: "tides-mcp", port: 2, name: 7 }, "`name` must be a text and not empty"],
  ])("M2: refuses the line %j", (line, words) => {
    expect(() => open({ get_tides: line as never })).toThrow(words);
  });

  test.each([
    [[7], "`registry` must be an object, got 7."],
    [[[]], "`registry` must be an object, got []."],
    [[{}, 7], "`MCPManager` requires its options as one object, such as `{ timeout: 30, attempts: 2 }`; got `7`."],
    [[{}, { aliases: "tide" }], '`aliases` must be an object, got "tide".'],
  ])("M2: refuses a manager of %j", (args, words) => {
    expect(() => new MCPManager(...(args as unknown as ConstructorParameters<typeof MCPManager>))).toThrow(words);
  });

  test.each([
    [[undefined], "The tool must be given by name, got nothing."],
    [[{ tool: "get_tides" }], 'The tool must be given by name, got {"tool":"get_tides"}.'],
    [["get_tides", [1]], "The arguments of get_tides must be an object."],
  ])("M4, M6: a call %j of a model resolves with an error and never rejects", async (args, error) => {
    const manager = open({ get_tides: { host: "127.0.0.1", port: 9 } });
    expect(await manager.callTool(...(args as unknown as Parameters<MCPManager["callTool"]>))).toEqual({ error });
  });

  test.each([0, -1, 1.5, "2", Number.NaN])("M9: refuses %j as number of attempts, and accepts 1", (attempts) => {
    expect(() => open({}, { attempts })).toThrow("`attempts` must be a whole number above 0");
    expect(open({}, { attempts: 1 }).tools).toEqual([]);
  });
});

describe("a closed manager", () => {
  const away = { host: "127.0.0.1", port: 9 };
  const closed = "This manager was closed. Create a new one.";

  test("M4: reports that it was closed for every call, under each name, and lists nothing", async () => {
    const manager = open({ get_tide: away });
    await manager.close();
    for (const method of ["callTool", "call_tool", "executeTool", "execute_tool"] as const)
      expect(await manager[method]("get_tide", { harbour: "Brest" })).toEqual({ error: closed });
    await expect(manager.listTools()).rejects.toThrow(closed);
  });

  test("M4: a running call ends with the error of a closed manager; closing again has no effect", async () => {
    const silent = await listen(createServer(() => {}));
    const manager = open({ get_tide: { host: "127.0.0.1", port: silent.port } });
    const call = manager.callTool("get_tide", {});
    await manager.close();
    await manager.close();
    expect(await call).toEqual({ error: closed });
    await silent.close();
  });
});

describe("# services by their specified names", () => {
  test.each([
    [
      ["ddgs-mcp", "datetime-mcp"],
      ["datetime", "web-search"],
    ],
    [
      ["ddgs", "weather-mcp", "geocoding-mcp"],
      ["web-search", "weather", "geocoding"],
    ],
  ])("M14: toolyard services %j starts %j", async (names, services) => {
    await using desk = await Desk.create();
    const child = desk.start(["services", ...names, "--port", "0", "--json"]);
    const [, line] = await seen(child.stdout!, /^(\{.*\})$/m);
    const { services: running } = JSON.parse(line!) as { services: { name: string }[] };
    expect(running.map(({ name }) => name)).toEqual(services);
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
  });

  test("M14: an unknown name is refused", async () => {
    await using desk = await Desk.create();
    const { code, stderr } = await desk.run(["services", "joke-mcp"]);
    expect(code).toBe(2);
    expect(stderr).toContain('There is no service "joke-mcp".');
  });
});
