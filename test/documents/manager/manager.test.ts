import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  DEFAULT_REGISTRY,
  MCPManager,
  type ManagerOptions,
  type Registry,
} from "../../../packages/toolyard/src/manager.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { startServer, type RunningServer } from "../../fixtures/http-servers.ts";
import { ToolFolder } from "../../support/tool-folder.ts";
import { closedPort, startTools } from "../tool-server.ts";

const HOST = "127.0.0.1";
const LOCATION = { type: "object", properties: { location: { type: "string" } }, required: ["location"] };
const UNAVAILABLE = (port: number, name = "Weather MCP"): object => ({ error: `${name} unavailable on port ${port}` });

let home: ToolFolder;
const managers: MCPManager[] = [];
const servers: RunningServer[] = [];

beforeEach(() => {
  home = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", home.path);
});
afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
  vi.unstubAllEnvs();
  home[Symbol.dispose]();
});

function open(registry: Registry, options: ManagerOptions = {}): MCPManager {
  const manager = new MCPManager(registry, { logger: SILENT_LOGGER, ...options });
  managers.push(manager);
  return manager;
}

async function serve(...args: Parameters<typeof startTools>): Promise<RunningServer> {
  const server = await startTools(...args);
  servers.push(server);
  return server;
}

const weatherTools = {
  get_weather: {
    schema: LOCATION,
    run: ({ location }: { location?: unknown }) => ({ location, current: { temperature_2m: 21 } }),
  },
};

/** Starts a server that accepts connections and never responds. */
async function silentServer(): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket)).listen(0, HOST);
  await once(server, "listening");
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  return { port: (server.address() as AddressInfo).port, close };
}

describe("routing", () => {
  test("M1: calls tools of several servers by name alone", async () => {
    const [weather, clock] = [
      await serve(weatherTools),
      await serve({ get_current_datetime: () => "2026-11-22T00:00:00Z" }),
    ];
    const manager = open({
      get_weather: { host: HOST, port: weather.port },
      get_current_datetime: { host: HOST, port: clock.port },
    });
    expect(
      await Promise.all([
        manager.callTool("get_weather", { location: "Paris" }),
        manager.callTool("get_current_datetime", {}),
      ]),
    ).toEqual([{ location: "Paris", current: { temperature_2m: 21 } }, "2026-11-22T00:00:00Z"]);
    expect(manager.tools).toEqual(["get_weather", "get_current_datetime"]);
  });

  test("M1: a missing server does not affect others", async () => {
    const [weather, port] = [await serve(weatherTools), await closedPort()];
    const manager = open({ get_weather: { host: HOST, port: weather.port }, geocode: { host: HOST, port } });
    expect(
      await Promise.all([manager.callTool("geocode", {}), manager.callTool("get_weather", { location: "Paris" })]),
    ).toMatchObject([{ error: expect.any(String) }, { location: "Paris" }]);
  });

  test("M2: the specified registry is the default, with host and port of each tool", () => {
    const manager = open(DEFAULT_REGISTRY);
    expect(Object.keys(DEFAULT_REGISTRY).map((tool) => manager.resolve(tool)?.url)).toEqual([
      "http://datetime-mcp:50051/mcp",
      "http://ddgs-mcp:50052/mcp",
      "http://weather-mcp:50053/mcp",
      "http://geocoding-mcp:50054/mcp",
    ]);
    expect(new MCPManager().tools).toEqual(Object.keys(DEFAULT_REGISTRY));
  });

  test("M2: an invalid line is refused by name", () => {
    expect(() => open({ get_weather: { host: "weather mcp", port: 1 } })).toThrow(
      "The registry's line `get_weather`: `host` must be a name",
    );
    expect(() => open({ get_weather: { host: "weather-mcp", port: 70_000 } })).toThrow("`port` must be a whole number");
    expect(() => open({ get_weather: { host: "weather-mcp" } as never })).toThrow("has no `port`");
  });

  test("M3: call_tool and execute_tool return the tool's structured JSON", async () => {
    const structured = {
      outputSchema: { type: "object", properties: { n: { type: "number" } } },
      run: () => ({ n: 1 }),
    };
    const server = await serve({ structured, listed: () => [1, 2], words: () => "plain words" });
    const line = { host: HOST, port: server.port };
    const manager = open({ structured: line, listed: line, words: line });
    expect(await manager.call_tool("structured", {})).toEqual({ n: 1 });
    expect(await manager.execute_tool("listed", {})).toEqual([1, 2]);
    expect(await manager.executeTool("words")).toBe("plain words");
  });

  test("M3: invalid or missing arguments are reported in the one error object", async () => {
    const server = await serve(weatherTools);
    const manager = open({ get_weather: { host: HOST, port: server.port } });
    expect(await manager.callTool("get_weather", {})).toEqual({ error: "Missing required parameter: location" });
    expect(await manager.callTool("get_weather", [] as never)).toEqual({
      error: "The arguments of get_weather must be an object.",
    });
  });

  test("M6: an unknown tool is reported without network traffic", async () => {
    const server = await serve(weatherTools);
    const manager = open({ get_weather: { host: HOST, port: server.port } });
    expect(await manager.callTool("get_wether", {})).toEqual({
      error: "Unknown tool: get_wether. Did you mean get_weather?",
    });
    expect(await manager.callTool("weather.get_climate", {})).toMatchObject({
      error: expect.stringContaining("Unknown tool: weather.get_climate"),
    });
    expect(await manager.callTool("weather", "get_climate", {})).toMatchObject({
      error: expect.stringContaining("Unknown tool"),
    });
    expect(server.seen).toEqual([]);
  });

  test("M6: a known tool is called at its own server only", async () => {
    const [weather, other] = [await serve(weatherTools), await serve({ geocode: () => ({}) })];
    const manager = open({
      get_weather: { host: HOST, port: weather.port },
      geocode: { host: HOST, port: other.port },
    });
    await manager.callTool("get_weather", { location: "Paris" });
    expect(weather.seen.length).toBeGreaterThan(0);
    expect(other.seen).toEqual([]);
  });

  test("M8: a slow server does not delay others, and calls to one server run concurrently", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const [slow, quick] = [await serve({ slow: () => gate.then(() => "late") }), await serve({ quick: () => "now" })];
    const manager = open({ slow: { host: HOST, port: slow.port }, quick: { host: HOST, port: quick.port } });
    const late = [manager.callTool("slow"), manager.callTool("slow")];
    expect(await manager.callTool("quick")).toBe("now");
    release();
    expect(await Promise.all(late)).toEqual(["late", "late"]);
  });

  test("M8: a server that accepts connections and never responds does not delay others", async () => {
    const silent = await silentServer();
    const quick = await serve({ quick: () => "now" });
    const manager = open({
      geocode: { host: HOST, port: silent.port },
      quick: { host: HOST, port: quick.port },
    });
    const stuck = manager.callTool("geocode");
    expect(await manager.callTool("quick")).toBe("now");
    await silent.close();
    expect(await stuck).toEqual(UNAVAILABLE(silent.port, "Geocoding MCP"));
  });

  test("M12: registering a server makes its tool callable, and changes nothing else", async () => {
    const joke = await serve({ get_joke: () => ({ joke: "…" }) });
    const manager = open({});
    expect(await manager.callTool("get_joke")).toEqual({ error: "Unknown tool: get_joke. There are: none." });
    manager.register("get_joke", { host: HOST, port: joke.port });
    expect(await manager.callTool("get_joke")).toEqual({ joke: "…" });
    expect((await manager.listTools()).map(({ name }) => name)).toEqual(["get_joke"]);
  });

  test("M12: the tool of a removed line is unknown, and an invalid line changes nothing", async () => {
    const joke = await serve({ get_joke: () => ({ joke: "…" }) });
    const manager = open({ get_joke: { host: HOST, port: joke.port } });
    expect(() => manager.register("get_joke", { host: "", port: 1 })).toThrow("get_joke");
    expect(await manager.callTool("get_joke")).toEqual({ joke: "…" });
    expect(await manager.unregister("get_joke")).toBe(true);
    expect(await manager.unregister("get_joke")).toBe(false);
    expect(await manager.callTool("get_joke")).toMatchObject({
      error: expect.stringContaining("Unknown tool: get_joke."),
    });
  });
});

describe("failures", () => {
  test("M4: reports an unusable service by name and port, in exactly this object", async () => {
    const port = await closedPort();
    const manager = open({ get_weather: { host: HOST, port }, other: { host: HOST, port, name: "Weather" } });
    expect(await manager.callTool("get_weather", { location: "Paris" })).toEqual({
      error: `Weather MCP unavailable on port ${port}`,
    });
    expect(await manager.callTool("other")).toEqual({ error: `Weather MCP unavailable on port ${port}` });
  });

  test.each([
    ["weather-mcp.invalid", "get_weather", "Weather MCP unavailable on port 50053"],
    ["datetime-mcp.invalid", "get_current_datetime", "Datetime MCP unavailable on port 50053"],
  ])("M4: names the service %s after its host", async (host, tool, error) => {
    // No such host exists here; only the name matters.
    const manager = open({ [tool]: { host, port: 50053 } }, { attempts: 1, timeout: 5 });
    expect(await manager.callTool(tool, { location: "Paris" })).toEqual({ error });
  });

  test("M4: returns the object of an unusable service for malformed data", async () => {
    const server = await startServer(
      (_request, response) =>
        void response.writeHead(200, { "content-type": "application/json" }).end("<html>not MCP</html>"),
    );
    servers.push(server);
    expect(
      await open({ get_weather: { host: HOST, port: server.port } }).callTool("get_weather", { location: "Paris" }),
    ).toEqual(UNAVAILABLE(server.port));
  });

  test("M4: a tool's own error is reported in the same object", async () => {
    const server = await serve({
      get_weather: () => {
        throw new Error("No such place: Atlantis");
      },
    });
    expect(await open({ get_weather: { host: HOST, port: server.port } }).callTool("get_weather", {})).toEqual({
      error: "No such place: Atlantis",
    });
  });

  test("M5: a refused connection and a timeout give the same object", async () => {
    const refused = await closedPort();
    const hangs = await serve({ get_weather: () => new Promise(() => {}) });
    const manager = open({ get_weather: { host: HOST, port: refused } }, { timeout: "700ms" });
    expect(await manager.callTool("get_weather", {})).toEqual(UNAVAILABLE(refused));
    manager.register("get_weather", { host: HOST, port: hangs.port });
    expect(await manager.callTool("get_weather", {})).toEqual(UNAVAILABLE(hangs.port));
    expect(await manager.callTool("get_weather", {}, { timeout: 0.2 })).toEqual(UNAVAILABLE(hangs.port));
  });

  test("M5: a call that ends in time is not a timeout; an invalid timeout is refused", async () => {
    const server = await serve(weatherTools);
    const manager = open({ get_weather: { host: HOST, port: server.port } }, { timeout: 10 });
    expect(await manager.callTool("get_weather", { location: "Paris" }, { timeout: "9s" })).toMatchObject({
      location: "Paris",
    });
    expect(await manager.callTool("get_weather", { location: "Paris" }, { timeout: "soon" })).toMatchObject({
      error: expect.stringContaining("`timeout` must be"),
    });
    expect(() => open({}, { timeout: 0 })).toThrow("`timeout` must be a number of seconds above 0");
  });

  test("M9: connects again to a server that drops the first connections, without an error for the caller", async () => {
    let dropped = 0;
    const server = await serve(weatherTools, {
      before: (request, response) => {
        if (dropped >= 1) return;
        dropped += 1;
        request.socket.destroy();
        response.destroy();
      },
    });
    expect(
      await open({ get_weather: { host: HOST, port: server.port } }).callTool("get_weather", { location: "Paris" }),
    ).toMatchObject({ location: "Paris" });
    expect(dropped).toBe(1);
  });

  test("M9: a restarted server is used again by the next call", async () => {
    const server = await serve(weatherTools);
    const manager = open({ get_weather: { host: HOST, port: server.port } }, { attempts: 1 });
    expect(await manager.callTool("get_weather", { location: "Paris" })).toMatchObject({ location: "Paris" });
    await server.close();
    expect(await manager.callTool("get_weather", { location: "Paris" })).toEqual(UNAVAILABLE(server.port));
    await serve(weatherTools, { port: server.port });
    await expect
      .poll(() => manager.callTool("get_weather", { location: "Paris" }))
      .toMatchObject({ location: "Paris" });
  });

  test("M9: does not run a tool twice that has started", async () => {
    let runs = 0;
    const server = await serve({
      get_weather: () => {
        runs += 1;
        throw new Error("broke");
      },
    });
    expect(
      await open({ get_weather: { host: HOST, port: server.port } }, { attempts: 5 }).callTool("get_weather", {}),
    ).toEqual({ error: "broke" });
    expect(runs).toBe(1);
  });
});

describe("names", () => {
  test("C14: two arguments, any spelling of the full name, and three arguments call the same tool", async () => {
    const server = await serve(weatherTools);
    const manager = open({ get_weather: { host: HOST, port: server.port, name: "Weather" } });
    const want = { location: "Tokyo", current: { temperature_2m: 21 } };
    for (const name of [
      "get_weather",
      "weather.get_weather",
      "weather::get_weather",
      "weather__get_weather",
      "weather/get_weather",
      `${HOST}::get_weather`,
    ]) {
      expect(await manager.callTool(name, { location: "Tokyo" }), name).toEqual(want);
    }
    for (const service of ["weather", "Weather", "Weather MCP", HOST])
      expect(await manager.callTool(service, "get_weather", { location: "Tokyo" }), service).toEqual(want);
  });

  test("C14: a container with `_tool` names works with the specified names, and the reverse", async () => {
    const [field, own] = [
      await serve({ get_weather_tool: () => "theirs", web_search_tool: ({ query }) => ({ query }) }),
      await serve({ get_weather: () => "ours" }),
    ];
    const line = { host: HOST, port: field.port };
    const ours = open({ get_weather: line, search_ddgs: line });
    expect(await ours.callTool("get_weather")).toBe("theirs");
    expect(await ours.callTool("search_ddgs", { query: "q" })).toEqual({ query: "q" });
    expect(await ours.callTool("get_weather_tool")).toBe("theirs");
    expect(await open({ get_weather_tool: { host: HOST, port: own.port } }).callTool("get_weather_tool")).toBe("ours");
  });

  test("C14: a line may give the tool's remote name; two tools with one name need it", async () => {
    const [paris, rome] = [await serve({ get_weather: () => "Paris" }), await serve({ get_weather: () => "Rome" })];
    const manager = open({
      paris_weather: { host: HOST, port: paris.port, tool: "get_weather", name: "Paris" },
      rome_weather: { host: HOST, port: rome.port, tool: "get_weather", name: "Rome" },
    });
    expect([
      await manager.callTool("paris_weather"),
      await manager.callTool("rome.rome_weather"),
      await manager.callTool("rome", "get_weather", {}),
    ]).toEqual(["Paris", "Rome", "Rome"]);
    expect(await manager.callTool("get_weather")).toEqual({
      error: "Several tools answer to get_weather: paris_weather, rome_weather. Use one of these names.",
    });
  });

  test("M6: two lines for one tool are not ambiguous, and a model's form of the name works", async () => {
    const server = await serve({ "weather.get": () => "sun" });
    const line = { host: HOST, port: server.port, tool: "weather.get" };
    const manager = open({ sun: line, rain: { ...line, name: "Rain MCP" } });
    for (const name of ["sun", "rain", "rain.rain", "weather.get", "weather_get"])
      expect(await manager.callTool(name), name).toBe("sun");
    expect(await manager.callTool("weather_sun")).toMatchObject({ error: expect.stringContaining("Unknown tool") });
  });

  test("C14: reports clearly that a server has none of the tool's names", async () => {
    const server = await serve({ another: () => "x" });
    expect(await open({ get_weather: { host: HOST, port: server.port } }).callTool("get_weather")).toMatchObject({
      error: expect.stringContaining("Unknown tool: get_weather"),
    });
  });

  test("C15: host and port mean http://host:port/mcp; a line may change path and scheme", async () => {
    const server = await serve({ get_joke: () => "x" }, { path: "/api/joke" });
    const manager = open({
      get_joke: { host: HOST, port: server.port, path: "/api/joke" },
      far: { host: "joke-mcp", port: 443, scheme: "https" },
    });
    expect(await manager.callTool("get_joke")).toBe("x");
    expect(manager.resolve("far")?.url).toBe("https://joke-mcp/mcp");
    expect(new Set(server.seen.map(({ url }) => url))).toEqual(new Set(["/api/joke"]));
  });

  test("C15: another path than /mcp is not found", async () => {
    const server = await serve({ get_joke: () => "x" }, { path: "/elsewhere" });
    expect(await open({ get_joke: { host: HOST, port: server.port } }).callTool("get_joke")).toEqual(
      UNAVAILABLE(server.port, "Joke MCP"),
    );
  });

  test("M13: resolves host and port of a tool without a server", () => {
    const manager = open({ get_weather: { host: "weather-mcp", port: 50053 } });
    for (const name of ["get_weather", "get_weather_tool", "weather.get_weather", "weather-mcp::get_weather_tool"]) {
      expect(manager.resolve(name)).toMatchObject({
        host: "weather-mcp",
        port: 50053,
        url: "http://weather-mcp:50053/mcp",
      });
    }
  });

  test("M13: resolves an unknown name to undefined", () => {
    expect(open({}).resolve("get_weather")).toBeUndefined();
  });

  test("M15: the manager is a separate entry point and a thin layer over the client's call", () => {
    const read = (name: string): string =>
      readFileSync(new URL(`../../../packages/toolyard/src/compat/manager/${name}.ts`, import.meta.url), "utf8");
    expect(read("mcp-manager")).toContain("client.callTool(");
    expect(
      JSON.parse(readFileSync(new URL("../../../packages/toolyard/package.json", import.meta.url), "utf8")),
    ).toMatchObject({
      exports: { "./manager": { default: "./dist/manager.js" } },
    });
  });

  test("M15: the manager does not access the network itself", () => {
    const read = (name: string): string =>
      readFileSync(new URL(`../../../packages/toolyard/src/compat/manager/${name}.ts`, import.meta.url), "utf8");
    for (const name of ["mcp-manager", "registry"])
      expect(read(name)).not.toMatch(/from "(?:node:(?:http|net)|undici)|\bfetch\(/);
  });
});

describe("connections", () => {
  test("M9: connects at the first call, and closing ends all connections", async () => {
    const server = await serve(weatherTools);
    const manager = open({ get_weather: { host: HOST, port: server.port } });
    expect(manager.resolve("get_weather")).toBeDefined();
    expect(server.seen).toEqual([]);
    await manager.callTool("get_weather", { location: "Paris" });
    await manager.close();
    const asked = server.seen.length;
    expect(await manager.callTool("get_weather", { location: "Rome" })).toHaveProperty("error");
    expect(server.seen).toHaveLength(asked);
  });

  test("M1: merges the lists of all servers by registered names, and omits unreachable servers", async () => {
    const [field, port] = [await serve({ get_weather_tool: { schema: LOCATION, run: () => "x" } }), await closedPort()];
    const manager = open(
      { get_weather: { host: HOST, port: field.port }, geocode: { host: HOST, port } },
      { attempts: 1 },
    );
    expect(await manager.list_tools()).toEqual([
      { name: "get_weather", description: "Tool get_weather_tool.", input_schema: LOCATION },
    ]);
  });
});
