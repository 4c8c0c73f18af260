// The document's REST routes for servers that the manager also uses, and the agent of `/chat`.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHub, type HubConfig, type LibraryHub } from "../../../packages/toolyard/src/index.ts";
import { MCPManager } from "../../../packages/toolyard/src/manager.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { startModels, type ModelStandIn } from "../../agent/stand-in.ts";
import { startTools } from "../tool-server.ts";
import type { RunningServer } from "../../fixtures/http-servers.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

const text = { type: "string" };
const SERVICES = {
  datetime: {
    get_current_datetime: {
      schema: { type: "object", properties: { timezone: text } },
      run: ({ timezone = "UTC" }) => ({ timezone }),
    },
  },
  search: {
    search_ddgs: {
      schema: { type: "object", properties: { query: text, max_results: { type: "integer" } } },
      run: ({ query, max_results: count }: object & { query?: string; max_results?: number }) => [{ query, count }],
    },
  },
  weather: {
    get_weather: {
      schema: {
        type: "object",
        properties: { location: text, forecast_days: { type: "integer" } },
        required: ["location"],
      },
      run: ({ location, forecast_days: days = 3 }) => ({ location, days }),
    },
  },
  geocoding: {
    geocode: { schema: { type: "object", properties: { address: text } }, run: ({ address }) => [{ address }] },
  },
} satisfies Record<string, Parameters<typeof startTools>[0]>;

const ROUTES = {
  "GET /datetime/get": "get_current_datetime",
  "GET /search/get": { tool: "search_ddgs", arguments: { max_results: 5 } },
  "GET /weather/get": "get_weather",
  "POST /weather/get": "get_weather",
  "GET /geocoding/get": "geocode",
  "POST /chat": { chat: true },
};

const home = new ToolFolder();
let servers: RunningServer[];
let models: ModelStandIn;
const hubs: LibraryHub[] = [];

async function serve(settings: HubConfig, variables: Record<string, string> = {}): Promise<string> {
  const hub = await createHub({
    settings: {
      ...settings,
      server: { port: 0, ...settings.server },
      rest: { routes: ROUTES },
      mcp: {
        remote_servers: Object.keys(SERVICES).map((alias, at) => ({ alias, namespace: alias, url: servers[at]!.url })),
      },
    },
    variables: { TOOLYARD_HOME: home.path, ...variables },
    logger: SILENT_LOGGER,
  });
  hubs.push(hub);
  await hub.list();
  await expect.poll(() => hub.sources().map(({ status }) => status.state)).not.toContain("starting");
  const { address } = await hub.serve();
  return address.url;
}

beforeAll(async () => {
  servers = await Promise.all(Object.values(SERVICES).map((tools) => startTools(tools)));
  models = await startModels();
});
afterAll(async () => {
  await Promise.all(hubs.map((hub) => hub.close()));
  await Promise.all(servers.map((server) => server.close()));
  await models.close();
  home[Symbol.dispose]();
});

const json = async (url: string, body?: object, headers: Record<string, string> = {}): Promise<[number, unknown]> => {
  const response = await fetch(
    url,
    body === undefined
      ? { headers }
      : { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) },
  );
  return [response.status, await response.json()];
};

describe("# the specified routes", () => {
  test("M11: routes and the manager use the same servers, and return the same values", async () => {
    const url = await serve({});
    const lines = Object.values(SERVICES).flatMap((tools, at) =>
      Object.keys(tools).map((tool) => [tool, { host: "127.0.0.1", port: servers[at]!.port }]),
    );
    await using manager = new MCPManager(Object.fromEntries(lines), { logger: SILENT_LOGGER });
    const asked = [
      ["/datetime/get?timezone=Asia/Tokyo", "get_current_datetime", { timezone: "Asia/Tokyo" }],
      ["/search/get?query=cats&max_results=50", "search_ddgs", { query: "cats", max_results: 5 }],
      ["/weather/get?location=Paris&forecast_days=2", "get_weather", { location: "Paris", forecast_days: 2 }],
      ["/geocoding/get?address=Rome", "geocode", { address: "Rome" }],
    ] as const;
    for (const [path, tool, args] of asked)
      expect(await json(`${url}${path}`), path).toEqual([200, await manager.callTool(tool, args)]);
    expect(await json(`${url}/weather/get`, { location: "Oslo" })).toEqual([200, { location: "Oslo", days: 3 }]);
    expect((await json(`${url}/weather/get`))[0]).toBe(400);
    expect(await json(`${url}/health`)).toEqual([200, { status: "ok" }]);
  });
});

describe("the agent behind /chat", () => {
  const configured = (): HubConfig => ({ models: { ...models.models, language: "local/qwen" } });

  test("M11: POST /chat lets the model use the servers, and continues the given history", async () => {
    const url = await serve(configured());
    models.say([
      { calls: [{ name: "weather__get_weather", arguments: { location: "Tokyo" } }] },
      { text: "Three days." },
    ]);
    const [status, first] = (await json(`${url}/chat`, { message: "Weather in Tokyo?" })) as [
      number,
      { history: object[]; steps: { calls: object[] }[] },
    ];
    expect([status, first]).toMatchObject([
      200,
      { text: "Three days.", stopReason: "final", usage: { totalTokens: expect.any(Number) } },
    ]);
    expect(first.steps[0]!.calls).toMatchObject([
      { tool: "weather__get_weather", arguments: { location: "Tokyo" }, value: { location: "Tokyo", days: 3 } },
    ]);
    models.say([{ text: "As I said." }]);
    expect(await json(`${url}/api/chat`, { message: "Really?", history: first.history })).toMatchObject([
      200,
      { text: "As I said." },
    ]);
    expect(JSON.stringify(models.asked.at(-1)!.body)).toContain("Weather in Tokyo?");
    expect(await json(`${url}/chat`, { message: "Really?", history: [{ role: "nobody" }] })).toMatchObject([
      400,
      { error: { kind: "invalid_params" } },
    ]);
  });

  test("M11: events stream text and calls as they happen, and the reply comes last", async () => {
    const url = await serve(configured());
    models.say([{ calls: [{ name: "geocoding__geocode", arguments: { address: "Rome" } }] }, { text: "Here." }]);
    const response = await fetch(`${url}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ message: "Rome?" }),
    });
    const events = Array.from((await response.text()).matchAll(/^event: (.+)$/gm), ([, name]) => name);
    expect(events.filter((name) => name !== "step" && name !== "text")).toEqual(["call", "result", "reply"]);
    expect(events).toContain("text");
  });

  test("S15: the model has no more rights than its caller", async () => {
    const url = await serve({
      ...configured(),
      server: { tokens: { narrow: { token: "narrow", deny: ["weather__*"] } } },
    });
    models.say([{ calls: [{ name: "weather__get_weather", arguments: { location: "Tokyo" } }] }, { text: "No." }]);
    const [, reply] = (await json(`${url}/chat`, { message: "Weather?" }, { authorization: "Bearer narrow" })) as [
      number,
      { steps: { calls: { ok: boolean }[] }[] },
    ];
    expect(reply.steps[0]!.calls[0]!.ok).toBe(false);
    expect(JSON.stringify(models.asked.at(-2)!.body["tools"])).not.toContain("weather__get_weather");
  });

  test.each([
    ["no model is configured", {}, "Set `language` in [models]"],
    ["its key is missing", { models: { language: "mistral/mistral-large-latest" } }, "MISTRAL_API_KEY"],
  ])("if %s, the chat route answers with the reason", async (_what, settings, words) => {
    const url = await serve(settings);
    expect(await json(`${url}/api/chat`, { message: "a" })).toEqual([
      503,
      { error: { kind: "unavailable", message: expect.stringContaining(words), retryable: false } },
    ]);
  });

  test("a caller that disconnects ends the model's answer", async () => {
    const url = await serve(configured());
    const from = models.asked.length;
    models.say([{ hangs: true }]);
    const caller = new AbortController();
    const call = fetch(`${url}/chat`, {
      method: "POST",
      signal: caller.signal,
      headers: { "content-type": "application/json" },
      body: '{"message":"a"}',
    });
    const asked = await models.question(from);
    caller.abort();
    await expect(call).rejects.toThrow("aborted");
    await asked.left;
  });
});
