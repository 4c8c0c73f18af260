// Spans inside a request: waits, runs of scripts and of code, model calls, steps of the agent, tasks, the shared store.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../packages/toolyard/src/agent.ts";
import { createHub, type HubConfig } from "../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { startModels, type ModelStandIn } from "../agent/stand-in.ts";
import { OtlpReceiver, type ReceivedSpan } from "../support/otlp-receiver.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { ToolFolder } from "../support/tool-folder.ts";

type Settings = HubConfig & Record<string, unknown>;
type Register = NonNullable<Parameters<typeof createHub>[0]>["registerTools"] & {};
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const SAMPLED = `00-${TRACE}-${PARENT}-01`;
const UNSAMPLED = `00-${TRACE}-${PARENT}-00`;

interface TracedHub {
  readonly url: string;
  /** Closes the hub and returns all spans of the trace. */
  end(): Promise<readonly ReceivedSpan[]>;
}

async function tracedHub(settings: Settings, registerTools: Register = () => {}): Promise<TracedHub> {
  const collector = await OtlpReceiver.start();
  onTestFinished(() => collector[Symbol.asyncDispose]());
  const hub = await createHub({
    registerTools,
    logger: SILENT_LOGGER,
    variables: { PATH: process.env["PATH"] },
    settings: {
      ...settings,
      server: { port: 0, ...settings.server },
      telemetry: { otlp: { endpoint: collector.url, metrics: false, logs: false } },
    },
  });
  onTestFinished(() => hub.close());
  return {
    url: (await hub.serve()).address.url,
    end: async () => {
      await hub.close();
      return collector.spans.filter(({ traceId }) => traceId === TRACE);
    },
  };
}

async function call(hub: TracedHub, tool: string, args: object = {}, traceparent = SAMPLED): Promise<unknown> {
  const response = await post(hub, `/api/tools/${tool}`, args, { traceparent });
  return response.json();
}

function post(hub: TracedHub, path: string, body: object, headers: Record<string, string>): Promise<Response> {
  const json = { "content-type": "application/json", ...headers };
  return fetch(`${hub.url}${path}`, { method: "POST", headers: json, body: JSON.stringify(body) });
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0]!;
}

const server = (spans: readonly ReceivedSpan[]): ReceivedSpan => spans.find(({ kind }) => kind === 2)!;
const contextOf = ({ spanId }: ReceivedSpan): string => `00-${TRACE}-${spanId}-01`;

test("a call that waits for a free place has a span of the wait below the request", async () => {
  using folder = new ToolFolder();
  folder.script("slow", "slow.sh", "#!/bin/sh\nsleep 0.05\necho done\n", "max_concurrent = 1\n");
  const hub = await tracedHub({ scripts: { tools_path: folder.path } });
  const answers = await Promise.all([call(hub, "slow"), call(hub, "slow", {}, UNSAMPLED), call(hub, "slow")]);
  expect(answers).toEqual(["done", "done", "done"]);
  const spans = await hub.end();
  const wait = spans.find(({ name }) => name === "wait admit")!;
  expect(wait).toMatchObject({ kind: 1, attributes: { "toolyard.stage": "admit" } });
  expect(spans.filter(({ kind }) => kind === 2).map(({ spanId }) => spanId)).toContain(wait.parentId);
});

const SCRIPTS = {
  "a process for each call": ["tool.py", "import os\nprint(os.environ.get('TRACEPARENT'))\n", ""],
  "a warm Python interpreter": [
    "tool.py",
    "import os\ndef run(**_):\n    return os.environ.get('TRACEPARENT')\n",
    '[run]\nmode = "warm"\n',
  ],
  "a warm JavaScript interpreter": [
    "tool.mjs",
    "export const run = () => process.env.TRACEPARENT ?? 'None';\n",
    '[run]\nmode = "warm"\n',
  ],
} as const;

test.each(Object.entries(SCRIPTS))(
  "%s gets the context of its run in TRACEPARENT",
  async (_name, [file, text, toml]) => {
    using folder = new ToolFolder();
    folder.script("where", file, text, toml);
    const hub = await tracedHub({ scripts: { tools_path: folder.path } });
    const sampled = await call(hub, "where");
    const unsampled = await call(hub, "where", {}, UNSAMPLED);
    const spans = await hub.end();
    const run = named(spans, "run scripts");
    expect(run.parentId).toBe(server(spans).spanId);
    expect([sampled, unsampled]).toEqual([contextOf(run), UNSAMPLED]);
  },
);

test("a tool file gets the context of its run in TRACEPARENT", async () => {
  using folder = new ToolFolder();
  folder.write("where/where.py", "import os\ndef execute(params):\n    return os.environ.get('TRACEPARENT')\n");
  folder.write(
    "where/where.mcp.json",
    JSON.stringify({ name: "where", description: "d", input_schema: { type: "object" } }),
  );
  const hub = await tracedHub({ folders: { tools_path: folder.path } });
  const answer = await call(hub, "where");
  const spans = await hub.end();
  expect(answer).toBe(contextOf(named(spans, "run folders")));
});

test("the span of a call by sandboxed code is below the span of the run", async () => {
  const hub = await tracedHub({}, (own) =>
    own.registerTool("echo", ({ text }) => String(text), { type: "object" }, "Echoes a text"),
  );
  const code = 'return await tools.echo({ text: "x" });';
  await call(hub, "execute_code", { code, language: "javascript" });
  const spans = await hub.end();
  const run = named(spans, "run sandbox");
  expect(run.parentId).toBe(server(spans).spanId);
  expect(named(spans, "tools/call echo")).toMatchObject({ parentId: run.spanId, kind: 1 });
});

test("a task has a span until its end, and the span of its call is a child of that span", async () => {
  const hub = await tracedHub({}, (own) => own.registerTool("echo", () => "x", { type: "object" }, "Echoes a text"));
  const headers = { prefer: "respond-async", traceparent: SAMPLED };
  const started = await post(hub, "/api/tools/echo", {}, headers);
  expect(started.status).toBe(202);
  const location = started.headers.get("location")!;
  await expect
    .poll(async () => ((await (await fetch(location)).json()) as { status: string }).status)
    .toBe("completed");
  const spans = await hub.end();
  const task = named(spans, "task");
  expect(task.parentId).toBe(server(spans).spanId);
  expect(named(spans, "tools/call echo").parentId).toBe(task.spanId);
});

test("a task of a client of 2025-11-25 has a span below the request that created it", async () => {
  const hub = await tracedHub({}, (own) => own.registerTool("echo", () => "x", { type: "object" }, "Echoes a text"));
  const accept = { accept: "application/json, text/event-stream" };
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await post(hub, "/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params }, accept);
  const session = { ...accept, "mcp-session-id": opened.headers.get("mcp-session-id")! };
  await post(hub, "/mcp", { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  const call = { name: "echo", arguments: {}, task: {}, _meta: { traceparent: SAMPLED } };
  await post(hub, "/mcp", { jsonrpc: "2.0", id: 2, method: "tools/call", params: call }, session);
  await expect
    .poll(async () => {
      const list = await post(hub, "/mcp", { jsonrpc: "2.0", id: 3, method: "tasks/list" }, session);
      return list.text();
    })
    .toContain("completed");
  const spans = await hub.end();
  const task = named(spans, "task");
  expect(task.parentId).toBe(server(spans).spanId);
  expect(named(spans, "tools/call echo").parentId).toBe(task.spanId);
});

test("each request of a batch has its own span with its tool", async () => {
  const hub = await tracedHub({}, (own) => {
    for (const name of ["one", "two"]) own.registerTool(name, () => name, { type: "object" }, "Returns its name");
  });
  const batch = ["one", "two", "one", "none"].map((method, id) => ({ jsonrpc: "2.0", id, method }));
  await post(hub, "/jsonrpc", batch, { traceparent: SAMPLED });
  const servers = (await hub.end()).filter(({ kind }) => kind === 2);
  const facts = servers.map(({ name, parentId, attributes }) => [
    name,
    parentId,
    attributes["jsonrpc.request.id"],
    attributes["gen_ai.tool.name"],
    attributes["toolyard.outcome"],
  ]);
  expect(facts.toSorted((one, other) => String(one[2]).localeCompare(String(other[2])))).toEqual([
    ["tools/call one", PARENT, "0", "one", "ok"],
    ["tools/call two", PARENT, "1", "two", "ok"],
    ["tools/call one", PARENT, "2", "one", "ok"],
    ["tools/call none", PARENT, "3", "none", "unknown_tool"],
  ]);
});

test("a request that makes no call has a span with its method", async () => {
  const hub = await tracedHub({});
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const opening = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  await post(hub, "/mcp", opening, { accept: "application/json, text/event-stream", traceparent: SAMPLED });
  const discover = { jsonrpc: "2.0", id: 2, method: "mcp/discover" };
  await post(hub, "/jsonrpc", discover, { traceparent: SAMPLED });
  await fetch(`${hub.url}/api/tools`, { headers: { traceparent: SAMPLED } });
  const spans = await hub.end();
  expect(spans.map(({ name, kind, parentId }) => [name, kind, parentId]).toSorted()).toEqual([
    ["GET /api/tools", 2, PARENT],
    ["initialize", 2, PARENT],
    ["mcp/discover", 2, PARENT],
  ]);
});

describe("the agent", () => {
  let models: ModelStandIn;
  beforeAll(async () => void (models = await startModels()));
  afterAll(() => models.close());

  test("has spans of the answer, of each step, of its calls and of the requests to the model", async () => {
    const settings = { models: { ...models.models, language: "openai-chat/gpt-x" } };
    const hub = await tracedHub(settings, (own) =>
      own.registerTool("add", ({ a, b }) => Number(a) + Number(b), { type: "object" }, "Adds"),
    );
    models.say([{ calls: [{ name: "add", arguments: { a: 2, b: 3 } }] }, { text: "Five." }]);
    const answer = await post(hub, "/api/chat", { message: "2+3?" }, { traceparent: SAMPLED });
    expect(await answer.json()).toMatchObject({ text: "Five." });
    const spans = await hub.end();
    const agent = named(spans, "invoke_agent");
    const [first, second] = [named(spans, "agent step 1"), named(spans, "agent step 2")];
    expect(agent).toMatchObject({
      parentId: server(spans).spanId,
      attributes: { "gen_ai.operation.name": "invoke_agent", "toolyard.agent.stop_reason": "final" },
    });
    expect([first.parentId, second.parentId]).toEqual([agent.spanId, agent.spanId]);
    expect(named(spans, "tools/call add").parentId).toBe(first.spanId);
    const chats = spans.filter(({ name }) => name === "chat gpt-x");
    expect(chats.map(({ parentId }) => parentId)).toEqual([first.spanId, second.spanId]);
    expect(chats[0]).toMatchObject({
      kind: 3,
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-x" },
    });
  });

  test("as a task has its spans below the request", async () => {
    const hub = await tracedHub({ models: { ...models.models, language: "openai-chat/gpt-x" } });
    models.say([{ text: "Hello." }]);
    const headers = { traceparent: SAMPLED, prefer: "respond-async" };
    const started = await post(hub, "/api/chat", { message: "Hi" }, headers);
    const location = started.headers.get("location")!;
    await expect.poll(async () => (await fetch(location)).text()).toContain("completed");
    const spans = await hub.end();
    const request = server(spans).spanId;
    expect(["task", "invoke_agent"].map((name) => named(spans, name).parentId)).toEqual([request, request]);
  });

  describe("of the library", () => {
    const settings = (url: string, more: object = {}): Settings => ({
      models: { ...models.models, language: "openai-chat/gpt-x" },
      telemetry: { otlp: { endpoint: url, metrics: false, logs: false, ...more } },
    });
    const register: Register = (own) =>
      own.registerTool("add", ({ a, b }) => Number(a) + Number(b), { type: "object" }, "Adds");

    /** Asks an agent with the tools of a hub, and returns the received spans. */
    async function spansOf(
      config: (url: string) => Parameters<typeof createHub>[0],
      meta?: { traceparent: string },
    ): Promise<readonly ReceivedSpan[]> {
      await using collector = await OtlpReceiver.start();
      const hub = await createHub({ logger: SILENT_LOGGER, registerTools: register, ...config(collector.url) });
      onTestFinished(() => hub.close());
      models.say([{ calls: [{ name: "add", arguments: { a: 2, b: 3 } }] }, { text: "Five." }]);
      const agent = createAgent({ hub });
      const { text } = await agent.chat("2+3?", meta && { meta });
      expect(text).toBe("Five.");
      await agent.close();
      await hub.close();
      return collector.spans;
    }

    const expectTree = (spans: readonly ReceivedSpan[]): ReceivedSpan => {
      const agent = named(spans, "invoke_agent");
      const steps = ["agent step 1", "agent step 2"].map((name) => named(spans, name));
      expect(steps.map(({ parentId }) => parentId)).toEqual([agent.spanId, agent.spanId]);
      expect(named(spans, "tools/call add").parentId).toBe(steps[0]!.spanId);
      const chats = spans.filter(({ name }) => name === "chat gpt-x");
      expect(chats.map(({ parentId }) => parentId)).toEqual(steps.map(({ spanId }) => spanId));
      expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
      return agent;
    };

    test("has spans of its steps, calls and model requests if the configuration requests traces", async () => {
      const spans = await spansOf((url) => ({ variables: {}, settings: settings(url) }));
      expect(expectTree(spans).parentId ?? "").toBe("");
    });

    test("has spans below the context of the program if `OTEL_*` requests traces", async () => {
      const config = (url: string) => ({
        variables: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces` },
        settings: { models: { ...models.models, language: "openai-chat/gpt-x" } },
      });
      expect(expectTree(await spansOf(config, { traceparent: SAMPLED })).parentId).toBe(PARENT);
    });

    test("has no span without traces, or with a sampler that records none", async () => {
      for (const more of [{ traces: false }, { sampler: "always_off" }])
        expect(await spansOf((url) => ({ variables: {}, settings: settings(url, more) }))).toEqual([]);
    });
  });

  test("has no span for a caller with a trace that is not sampled", async () => {
    const hub = await tracedHub({ models: { ...models.models, language: "openai-chat/gpt-x" } });
    models.say([{ text: "Hello." }]);
    await post(hub, "/api/chat", { message: "Hi" }, { traceparent: UNSAMPLED });
    expect(await hub.end()).toEqual([]);
  });

  test("a script that uses a model has a span of the request to the model", async () => {
    using folder = new ToolFolder();
    folder.script("ask", "ask.py", "import toolyard\nprint(toolyard.generate_text('Hi'))\n");
    const settings = {
      models: { ...models.models, language: "openai-chat/gpt-x" },
      scripts: { tools_path: folder.path },
    };
    const hub = await tracedHub(settings);
    models.say([{ text: "Hello." }]);
    expect(await call(hub, "ask")).toContain("Hello.");
    const spans = await hub.end();
    expect(named(spans, "chat gpt-x")).toMatchObject({ parentId: named(spans, "run scripts").spanId, kind: 3 });
  });
});

test("the admission of a call by the shared store has a span below the request", async ({ skip }) => {
  skip(!HAS_REDIS, "Redis is not on this machine");
  await using redis = await RedisServer.start();
  const settings = { store: { url: redis.url }, limits: { rate_per_minute: 1000 } } as unknown as Settings;
  const hub = await tracedHub(settings, (own) => own.registerTool("echo", () => "x", { type: "object" }, "Echoes"));
  expect(await call(hub, "echo")).toBe("x");
  const spans = await hub.end();
  expect(spans.filter(({ name }) => name === "EVALSHA")[0]).toMatchObject({
    parentId: server(spans).spanId,
    kind: 3,
    attributes: { "db.system.name": "redis", "db.operation.name": "EVALSHA" },
  });
});
