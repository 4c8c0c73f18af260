import type { RequestListener } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SERVICES, startService, type RunningService } from "../../packages/toolyard/servers/services.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createAgent } from "../../packages/toolyard/src/agent.ts";
import { createHub, type JsonObject, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { MCPManager, type Registry } from "../../packages/toolyard/src/manager.ts";
import { startModels } from "../agent/stand-in.ts";
import { MAIN } from "../cli/harness.ts";
import { sendJson } from "../fixtures/http-servers.ts";
import { BRAVE_JSON, DUCKDUCKGO_CAPTCHA, DUCKDUCKGO_NONE, SEARXNG_JSON } from "../fixtures/web-search/pages.ts";
import { NOMINATIM_ERROR, OPEN_METEO_ERROR } from "../fixtures/services/answers.ts";
import { startProviders, type Providers } from "../fixtures/services/providers.ts";
import { ToolFolder } from "../support/tool-folder.ts";

const HOST = "127.0.0.1";
let home: ToolFolder;
let providers: Providers;
let running: Map<string, RunningService>;
let manager: MCPManager;
const hubs: LibraryHub[] = [];

/** Starts the services, weather last, and a manager with their addresses. */
async function startAll(more: Readonly<Record<string, string>> = {}): Promise<void> {
  const environment = { ...providers.environment, TOOLYARD_HOME: home.path, TOOLYARD_LOGGING_LEVEL: "error", ...more };
  for (const service of SERVICES.filter(({ name }) => name !== "weather"))
    running.set(service.name, await startService(service, { environment, port: 0 }));
  const weather = SERVICES.find(({ name }) => name === "weather")!;
  running.set(
    "weather",
    await startService(weather, { environment: { GEOCODING_URL: endpointOf("geocoding"), ...environment }, port: 0 }),
  );
  const line = (name: string, title: string): Registry[string] => ({ host: HOST, port: portOf(name), name: title });
  const registry = {
    get_current_datetime: line("datetime", "Datetime"),
    search_ddgs: line("web-search", "Ddgs"),
    get_weather: line("weather", "Weather"),
    geocode: line("geocoding", "Geocoding"),
  };
  manager = new MCPManager(registry, { logger: SILENT_LOGGER, timeout: 20 });
}

const portOf = (name: string): number => running.get(name)!.served.address.port;
const endpointOf = (name: string): string => running.get(name)!.served.endpoint;

beforeEach(async () => {
  home = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", home.path);
  providers = await startProviders();
  running = new Map();
  manager = new MCPManager({});
});
afterEach(async () => {
  await manager.close();
  await Promise.all(hubs.splice(0).map((hub) => hub.close()));
  await Promise.all([...running.values()].map((service) => service.close()));
  await providers.close();
  vi.unstubAllEnvs();
  home[Symbol.dispose]();
});

describe("the four services", () => {
  test("M14: each is a separate MCP server, with one tool on its own port", async () => {
    await startAll();
    expect(SERVICES.map(({ name, tool, port }) => [name, tool, port])).toEqual([
      ["datetime", "get_current_datetime", 50_051],
      ["web-search", "search_ddgs", 50_052],
      ["weather", "get_weather", 50_053],
      ["geocoding", "geocode", 50_054],
    ]);
    expect(new Set([...running.keys()].map(portOf)).size).toBe(4);
    for (const [name, { hub }] of running)
      expect(
        (await hub.list()).map((tool) => tool["name"]),
        name,
      ).toEqual([SERVICES.find((service) => service.name === name)!.tool]);
    const listed = await manager.listTools();
    expect(listed.map(({ name }) => name).toSorted()).toEqual([
      "geocode",
      "get_current_datetime",
      "get_weather",
      "search_ddgs",
    ]);
  });

  test("M1: one manager calls all four concurrently by the names of their tools", async () => {
    await startAll();
    const [now, found, weather, place] = await Promise.all([
      manager.callTool("get_current_datetime", { timezone: "Asia/Tokyo" }),
      manager.callTool("search_ddgs", { query: "otters", max_results: 1 }),
      manager.callTool("get_weather", { location: "Tokyo" }),
      manager.callTool("geocode", { address: "Tokyo" }),
    ]);
    expect(now).toMatchObject({ timezone: "Asia/Tokyo", utc_offset: "+09:00" });
    expect(found).toEqual({
      query: "otters",
      results: [
        { title: "The sea otter & its kin", url: "https://otters.example/sea?a=1&b=2", snippet: expect.any(String) },
      ],
    });
    expect(weather).toMatchObject({ location: { name: "Tokyo" }, current: { temperature: 13 } });
    expect(place).toMatchObject({
      latitude: 35.6768601,
      longitude: 139.7638947,
      results: [{ name: "Tokyo", country: "Japan", country_code: "jp" }, { name: "Tokyo Corner" }],
    });
  });

  test("M2: one line of host, port and tool is enough to call each by name and arguments", async () => {
    await startAll();
    expect(manager.resolve("get_weather")).toMatchObject({
      host: HOST,
      port: portOf("weather"),
      tool: "get_weather",
      url: endpointOf("weather"),
    });
    expect(await manager.execute_tool("get_weather", { location: "Tokyo" })).toMatchObject({
      location: { country: "Japan" },
    });
  });

  test("C14: accepts the `_tool` names of existing services, and does not list them", async () => {
    await startAll();
    const registry = {
      get_current_datetime_tool: "datetime",
      web_search_tool: "web-search",
      get_weather_tool: "weather",
      geocode_tool: "geocoding",
    };
    await using other = new MCPManager(
      Object.fromEntries(
        Object.entries(registry).map(([tool, name]) => [tool, { host: HOST, port: portOf(name), tool }]),
      ),
      { logger: SILENT_LOGGER },
    );
    expect(await other.callTool("get_current_datetime_tool")).toHaveProperty("datetime");
    expect(await other.callTool("web_search_tool", { query: "otters" })).toHaveProperty("results");
    expect(await other.callTool("get_weather_tool", { location: "Tokyo" })).toHaveProperty("current");
    expect(await other.callTool("geocode_tool", { address: "Tokyo" })).toHaveProperty("latitude");
    expect(await other.callTool("weather", "no_such_tool", {})).toEqual({
      error: expect.stringContaining("Unknown tool"),
    });
  });

  test("C15: serves Streamable HTTP at http://host:port/mcp, and no other path", async () => {
    await startAll();
    expect(endpointOf("weather")).toBe(`http://${HOST}:${portOf("weather")}/mcp`);
    expect(
      (
        await fetch(`http://${HOST}:${portOf("weather")}/`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: "{}",
        })
      ).status,
    ).not.toBe(200);
  });

  test("S1: a service listens beyond this machine only if configured", async () => {
    const [datetime] = SERVICES;
    await expect(startService(datetime!, { environment: {}, host: "0.0.0.0", port: 0 })).rejects.toThrow(
      "Refusing to listen on 0.0.0.0 without a token",
    );
    running.set("open", await startService(datetime!, { environment: {}, host: "0.0.0.0", port: 0, insecure: true }));
    expect(endpointOf("open")).toMatch(/\/mcp$/);
  });
});

describe("web search", () => {
  test.each([
    ["searxng", {}, SEARXNG_JSON, undefined],
    ["brave", { WEB_SEARCH_API_KEY: "key-of-brave" }, BRAVE_JSON, "key-of-brave"],
  ])("C43: queries %s instead of DuckDuckGo if configured", async (backend, more, body, key) => {
    await startAll({ WEB_SEARCH_BACKEND: backend, ...more });
    providers.misbehave((_request, response) => sendJson(response, 200, body));
    const { results } = (await manager.callTool("search_ddgs", { query: "otters", max_results: 2 })) as {
      results: object[];
    };
    expect(results[0]).toEqual({
      title: expect.any(String),
      url: expect.stringMatching(/^https:/),
      snippet: expect.any(String),
    });
    expect(providers.server.seen[0]!.headers["x-subscription-token"]).toBe(key);
    expect(providers.server.seen[0]!.headers["user-agent"]).toMatch(/^toolyard\/\d/);
  });

  test("C43: a search without results is an empty list, not a failure", async () => {
    await startAll();
    providers.misbehave(
      (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end(DUCKDUCKGO_NONE),
    );
    expect(await manager.callTool("search_ddgs", { query: "qwxzy" })).toEqual({ query: "qwxzy", results: [] });
  });

  test("C43: a captcha is an error object that names the variable to set", async () => {
    await startAll();
    providers.misbehave(
      (_request, response) => void response.writeHead(202, { "content-type": "text/html" }).end(DUCKDUCKGO_CAPTCHA),
    );
    expect(await manager.callTool("search_ddgs", { query: "otters" })).toEqual({
      error: expect.stringContaining("set WEB_SEARCH_BACKEND to"),
    });
  });
});

describe("weather", () => {
  test("M10: calls the geocoding service over MCP before it requests the forecast", async () => {
    await startAll();
    const answer = await manager.callTool("weather.get_weather", { location: "Tokyo", forecast_days: 2 });
    expect(answer).toEqual({
      location: {
        name: "Tokyo",
        country: "Japan",
        latitude: 35.6768601,
        longitude: 139.7638947,
        timezone: "Asia/Tokyo",
      },
      units: expect.objectContaining({ temperature: "°C", wind_speed: "km/h", precipitation: "mm" }),
      current: expect.objectContaining({
        time: "2026-11-22T10:45",
        condition: "partly cloudy",
        temperature: 13,
        humidity: 61,
        is_day: true,
      }),
      forecast: [
        expect.objectContaining({
          date: "2026-11-22",
          condition: "slight rain",
          temperature_max: 14,
          temperature_min: 5,
          precipitation_probability: 80,
        }),
        expect.objectContaining({ date: "2026-11-23", precipitation_probability: null, sunset: "2026-11-23T16:30" }),
      ],
      attribution: expect.stringContaining("Open-Meteo"),
    });
    expect(providers.asked.map((url) => url.split("?")[0])).toEqual(["/search", "/v1/forecast"]);
    expect(providers.asked[0]).toContain("q=Tokyo&format=jsonv2");
    expect(providers.asked[1]).toContain("latitude=35.6769&longitude=139.7639");
    expect(providers.server.seen.map(({ headers }) => headers["user-agent"])).toEqual([
      expect.stringMatching(/^toolyard\/\d/),
      expect.stringMatching(/^toolyard\/\d/),
    ]);
  });

  test("M10: coordinates need no geocoding", async () => {
    await startAll();
    await running.get("geocoding")!.close();
    expect(await manager.callTool("get_weather", { latitude: 35.7, longitude: 139.7, forecast_days: 0 })).toMatchObject(
      { location: { name: "35.7, 139.7" }, forecast: [] },
    );
  });

  test("M14: the units of a call override those of the environment", async () => {
    await startAll({ WEATHER_UNITS: "imperial" });
    expect(await manager.callTool("get_weather", { location: "Tokyo" })).toMatchObject({
      units: { temperature: "°F" },
      current: { temperature: 55.4 },
    });
    expect(
      await manager.callTool("get_weather", { location: "Tokyo", units: "metric", wind_speed_unit: "kn" }),
    ).toMatchObject({ units: { temperature: "°C" }, current: { temperature: 13 } });
    expect(providers.asked.at(-1)).toContain("temperature_unit=celsius&wind_speed_unit=kn&precipitation_unit=mm");
  });

  test("C43: sends one request to a provider for repeated calls", async () => {
    await startAll();
    await manager.callTool("get_weather", { location: "Tokyo" });
    await manager.callTool("get_weather", { location: "Tokyo" });
    expect(providers.asked).toHaveLength(2);
  });

  test("M10: uses the geocoding of the hub if it is configured with a hub", async () => {
    await startAll();
    const remote = (name: string) => ({ alias: name, url: endpointOf(name) });
    const hub = await createHub({
      settings: { mcp: { remote_servers: [remote("geocoding")] }, server: { port: 0, token: "the-token-of-the-hub" } },
      logger: SILENT_LOGGER,
    });
    hubs.push(hub);
    const { endpoint } = await hub.serve();
    const weather = SERVICES.find(({ name }) => name === "weather")!;
    const environment = { ...providers.environment, TOOLYARD_HOME: home.path, GEOCODING_URL: endpoint };
    running.set(
      "behind",
      await startService(weather, {
        environment: { ...environment, GEOCODING_TOKEN: "the-token-of-the-hub" },
        port: 0,
      }),
    );
    manager.register("weather_behind", { host: HOST, port: portOf("behind"), tool: "get_weather" });
    expect(await manager.callTool("weather_behind", { location: "Tokyo" })).toMatchObject({
      location: { name: "Tokyo", country: "Japan" },
    });
    running.set(
      "stranger",
      await startService(weather, { environment: { ...environment, TOOLYARD_LOGGING_LEVEL: "error" }, port: 0 }),
    );
    manager.register("weather_stranger", { host: HOST, port: portOf("stranger"), tool: "get_weather" });
    expect(await manager.callTool("weather_stranger", { location: "Tokyo" })).toEqual({
      error: `Geocoding MCP unavailable on port ${new URL(endpoint).port}`,
    });
  });
});

describe("failures", () => {
  test("M4: a stopped service is the specified error object, and the others continue", async () => {
    await startAll();
    expect(await manager.callTool("get_weather", { location: "Tokyo" })).toHaveProperty("current");
    const port = portOf("weather");
    await running.get("weather")!.close();
    expect(await manager.callTool("get_weather", { location: "Tokyo" })).toEqual({
      error: `Weather MCP unavailable on port ${port}`,
    });
    expect(await manager.callTool("geocode", { address: "Tokyo" })).toHaveProperty("latitude");
  });

  test("M4: if geocoding has stopped, weather reports the same error object for it", async () => {
    await startAll();
    const port = portOf("geocoding");
    await running.get("geocoding")!.close();
    expect(await manager.callTool("get_weather", { location: "Tokyo" })).toEqual({
      error: `Geocoding MCP unavailable on port ${port}`,
    });
  });

  test("M5: ends a call to a silent provider in time, within the caller's limit", async () => {
    await startAll({ NOMINATIM_TIMEOUT: "100ms" });
    providers.misbehave(() => {});
    expect(await manager.callTool("geocode", { address: "Tokyo" })).toEqual({
      error: expect.stringContaining("Nominatim sent no complete answer within 100 ms"),
    });
    expect(await manager.callTool("get_weather", { location: "Tokyo" })).toEqual({
      error: expect.stringContaining("Nominatim sent no complete answer within 100 ms"),
    });
  });

  test("M5: weather reports geocoding as unavailable if it is silent", async () => {
    await startAll({ GEOCODING_TIMEOUT: "300ms" });
    providers.misbehave(() => {});
    expect(await manager.callTool("get_weather", { location: "Tokyo" })).toEqual({
      error: `Geocoding MCP unavailable on port ${portOf("geocoding")}`,
    });
  });

  test("M5: a caller that disconnects cancels the requests of weather and geocoding", async () => {
    await startAll();
    const caller = new AbortController();
    let resolve = (): void => {};
    const closed = new Promise<void>((done) => void (resolve = done));
    providers.misbehave((request) => {
      request.socket.once("close", () => resolve());
      caller.abort();
    });
    expect(await manager.callTool("get_weather", { location: "Tokyo" }, { signal: caller.signal })).toHaveProperty(
      "error",
    );
    await closed;
  });

  const BAD: readonly [string, RequestListener, string][] = [
    [
      "429",
      (_request, response) => sendJson(response, 429, {}, { "retry-after": "7" }),
      "received too many requests (HTTP 429). Try again in 7 s",
    ],
    ["500", (_request, response) => sendJson(response, 500, {}), "failed (HTTP 500)"],
    ["broken JSON", (_request, response) => void response.end("[{"), "not JSON"],
    ["an empty body", (_request, response) => void response.end(), "not JSON"],
    ["another shape", (_request, response) => sendJson(response, 200, { hello: "world" }), "Try again later"],
    ["a huge body", (_request, response) => sendJson(response, 200, "x".repeat(2 * 1024 * 1024)), "more than"],
    ["a closed connection", (request) => void request.socket.destroy(), "closed the connection"],
  ];

  test.each(BAD)("C43: %s of a provider is an error object", async (_what, listener, words) => {
    await startAll();
    providers.misbehave(listener);
    expect(await manager.callTool("geocode", { address: "Tokyo" })).toEqual({
      error: expect.stringMatching(/^Nominatim /),
    });
    const weather = await manager.callTool("get_weather", { latitude: 1, longitude: 1 });
    expect(weather).toEqual({ error: expect.stringMatching(/^Open-Meteo /) });
    expect((weather as { error: string }).error).toContain(words);
    expect(await manager.callTool("search_ddgs", { query: "otters" })).toEqual({
      error: expect.stringMatching(/DuckDuckGo/),
    });
  });

  test.each([
    [
      "Open-Meteo",
      OPEN_METEO_ERROR,
      "get_weather",
      { latitude: 1, longitude: 1 },
      "Open-Meteo does not accept the request (HTTP 400): Latitude must be in range",
    ],
    [
      "Nominatim",
      NOMINATIM_ERROR,
      "geocode",
      { address: "Tokyo" },
      "Nominatim does not accept the request (HTTP 400): Nothing to search for.",
    ],
  ] as const)("C43: passes on what %s reports about a request", async (_name, body, tool, args, words) => {
    await startAll();
    providers.misbehave((_request, response) => sendJson(response, 400, body));
    expect(await manager.callTool(tool, args as JsonObject)).toEqual({ error: expect.stringContaining(words) });
  });

  test("C43: an unknown place is an error object, and never an empty list", async () => {
    await startAll();
    expect(await manager.callTool("geocode", { address: "Nowhere at all" })).toEqual({
      error: 'No place found for "Nowhere at all". Check the spelling, or add the country.',
    });
    expect(await manager.callTool("get_weather", { location: "Nowhere at all" })).toEqual({
      error: expect.stringContaining("No place found"),
    });
    expect(await manager.callTool("get_current_datetime", { timezone: "Nowhere" })).toEqual({
      error: expect.stringContaining("Unknown time zone"),
    });
  });

  test.each([
    ["get_weather", {}, "Give `location`"],
    ["get_weather", { latitude: 1 }, "Give both"],
    ["get_weather", { location: "x", units: "kelvin" }, "units"],
    ["geocode", {}, "Give `address`"],
    ["search_ddgs", {}, "query"],
  ])("M4: %s with the arguments %j names the missing argument", async (tool, args, words) => {
    await startAll();
    expect(await manager.callTool(tool, args)).toEqual({ error: expect.stringContaining(words) });
    expect(providers.asked).toEqual([]);
  });
});

test("M7: a manager with a killed service gives a model the specified error object and continues", async () => {
  await startAll();
  await using models = await startModels();
  await using agent = createAgent({ hub: manager, model: "mistral/mistral-large-latest", models: models.models });
  const ask = { calls: [{ name: "get_weather", arguments: { location: "Tokyo" } }] };
  models.say([ask, { text: "13 °C." }, ask, { text: "I cannot look it up right now." }]);
  expect(await agent.chat("Weather in Tokyo?")).toMatchObject({
    text: "13 °C.",
    steps: [{ calls: [{ tool: "get_weather", ok: true }] }, {}],
  });
  const port = portOf("weather");
  await running.get("weather")!.close();
  expect(await agent.chat("And again?")).toMatchObject({
    text: "I cannot look it up right now.",
    stopReason: "final",
    steps: [{ calls: [{ tool: "get_weather", ok: false }] }, {}],
  });
  expect(JSON.stringify(models.asked.at(-1)!.body).replaceAll("\\", "")).toContain(
    `{"error":"Weather MCP unavailable on port ${port}"}`,
  );
});

describe("clients", () => {
  const call = { name: "get_current_datetime", arguments: { timezone: "UTC" } };
  const info = { name: "test", version: "1.0.0" };

  test("M14: a client of either era lists and calls over HTTP", async () => {
    await startAll();
    const url = new URL(endpointOf("datetime"));
    const modern = new Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await modern.connect(new StreamableHTTPClientTransport(url));
    expect((await modern.listTools()).tools.map(({ name }) => name)).toEqual(["get_current_datetime"]);
    expect((await modern.callTool(call)).structuredContent).toMatchObject({ timezone: "UTC" });
    await modern.close();
    const legacy = new LegacyClient(info);
    await legacy.connect(new LegacyHttp(url) as never);
    expect((await legacy.listTools()).tools[0]).toMatchObject({
      name: "get_current_datetime",
      annotations: { readOnlyHint: true },
    });
    expect((await legacy.callTool(call)).structuredContent).toMatchObject({ timezone: "UTC" });
    expect(await legacy.callTool({ ...call, arguments: { timezone: "Nowhere" } })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(/^\{"error":"Unknown time zone/) }],
    });
    await legacy.close();
  });

  test.each([
    ["toolyard services datetime --stdio", [MAIN, "services", "datetime", "--stdio"]],
    ["servers/datetime on its own", [MAIN.replace("cli/main.js", "servers/datetime/main.js"), "--stdio"]],
  ])("M14: serves on stdio, started as %s", async (_what, args) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      env: { PATH: process.env["PATH"] ?? "", HOME: home.path, TOOLYARD_HOME: home.path },
      stderr: "pipe",
    });
    const client = new LegacyClient(info);
    await client.connect(transport as never);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["get_current_datetime"]);
    expect((await client.callTool(call)).structuredContent).toMatchObject({ timezone: "UTC" });
    await client.close();
  });
});

test.each([
  ["OPEN_METEO_URL", "ftp://x", "OPEN_METEO_URL must be an http or https address"],
  ["GEOCODING_URL", "http://me:secret@host/mcp", "GEOCODING_URL must be an http or https address without a user"],
  ["GEOCODING_TIMEOUT", "soon", "GEOCODING_TIMEOUT must be a time"],
  ["WEB_SEARCH_CACHE", "long", "WEB_SEARCH_CACHE must be"],
  ["WEATHER_UNITS", "kelvin", "WEATHER_UNITS must be one of metric, imperial"],
  ["WEB_SEARCH_BACKEND", "altavista", "WEB_SEARCH_BACKEND must be"],
  ["DATETIME_TIMEZONE", "Nowhere", "DATETIME_TIMEZONE: Unknown time zone"],
])("a variable with an invalid value stops its service: %s=%s", async (name, value, words) => {
  const start = SERVICES.map((service) =>
    startService(service, {
      environment: { ...providers.environment, TOOLYARD_HOME: home.path, [name]: value },
      port: 0,
    }),
  );
  const ended = await Promise.allSettled(start);
  for (const [index, one] of ended.entries()) if (one.status === "fulfilled") running.set(String(index), one.value);
  const reasons = ended.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).toContain(words);
  expect(reasons[0]).not.toContain("secret");
});

test("refuses a name of the client that cannot be in a header", async () => {
  const geocoding = SERVICES.find(({ name }) => name === "geocoding")!;
  await expect(startService(geocoding, { environment: { SERVICES_USER_AGENT: "a\nb" }, port: 0 })).rejects.toThrow(
    "SERVICES_USER_AGENT must be 1 to 200 printable ASCII characters",
  );
});
