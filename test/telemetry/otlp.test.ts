// Traces, metrics and logs by OTLP: what a collector receives from real hubs.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { OtlpReceiver, pairs, type ReceivedSpan } from "../support/otlp-receiver.ts";
import { processActivity } from "../../packages/toolyard/src/core/process-activity.ts";
import { LogBook } from "../support/log-book.ts";
import { ServeChild } from "../support/serve-child.ts";
import { ToolFolder } from "../support/tool-folder.ts";

type Settings = HubConfig & Record<string, unknown>;

async function hubWith(settings: Settings, variables: Record<string, string> = {}): Promise<LibraryHub> {
  const hub = await createHub({
    variables,
    settings: { logging: { level: "error" }, ...settings, server: { port: 0, ...settings.server } },
    registerTools: (own) => own.registerTool("echo", ({ text }) => String(text), { type: "object" }, "Echoes a text"),
  });
  onTestFinished(() => hub.close());
  return hub;
}

const otlp = (endpoint: string, service: string, more: object = {}) => ({
  telemetry: { otlp: { endpoint, service_name: service, ...more } },
});

const resolved = (file: string): string =>
  JSON.stringify(
    pathToFileURL(createRequire(import.meta.url).resolve(`@modelcontextprotocol/sdk/server/${file}.js`)).href,
  );

/** A stdio server of the official SDK whose tool returns its `_meta` and headers. */
const SDK_SERVER = `
import { McpServer } from ${resolved("mcp")};
import { StdioServerTransport } from ${resolved("stdio")};
const server = new McpServer({ name: "last", version: "1" });
server.registerTool("where", { description: "Returns its trace context" }, async ({ _meta }) => ({
  content: [{ type: "text", text: String(_meta?.traceparent) }],
}));
await server.connect(new StdioServerTransport());
`;
const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}-01`;

const ERAS = {
  legacy: async (url: string, meta: object) => {
    const client = new ClientV1({ name: "v1", version: "1" });
    await client.connect(new HttpV1(new URL(`${url}/mcp`)) as Parameters<typeof client.connect>[0]);
    onTestFinished(() => client.close());
    return client.callTool({ name: "far__last__where", arguments: {}, _meta: meta as never });
  },
  modern: async (url: string, meta: object) => {
    const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    onTestFinished(() => client.close());
    return client.callTool({ name: "far__last__where", arguments: {}, _meta: meta as never });
  },
};

describe("a call through two hubs to a server on stdio", () => {
  test.each(["legacy", "modern"] as const)("is one connected trace for a %s client", async (era) => {
    await using collector = await OtlpReceiver.start();
    using folder = new ToolFolder();
    const command = [process.execPath, folder.write("server.mjs", SDK_SERVER)];
    const far = await hubWith({
      ...otlp(collector.url, "far"),
      mcp: { stdio_servers: { last: { command } } },
    });
    const farUrl = (await far.serve()).address.url;
    const near = await hubWith({
      ...otlp(collector.url, "near"),
      mcp: { remote_servers: [{ namespace: "far", url: `${farUrl}/mcp` }] },
    });
    const nearUrl = (await near.serve()).address.url;
    const answer = await ERAS[era](nearUrl, { traceparent: TRACEPARENT });
    await Promise.all([near.close(), far.close()]);
    const spans = collector.spans.filter((span) => span.traceId === CALLER.traceId);
    const [first] = spans.filter(({ parentId }) => parentId === CALLER.spanId);
    const chain = chainFrom(first!, spans);
    expect(chain.map(({ service, kind }) => [service, kind])).toEqual([
      ["near", 2],
      ["near", 3],
      ["far", 2],
      ["far", 3],
    ]);
    expect(spans.filter(({ kind }) => kind === 2)).toHaveLength(2);
    const text = (answer.content as { readonly text: string }[])[0]!.text;
    expect(text).toBe(`00-${CALLER.traceId}-${chain.at(-1)!.spanId}-01`);
  });
});

/** Returns the requests on the way of a call, each the child of the one before. */
function chainFrom(first: ReceivedSpan, spans: readonly ReceivedSpan[]): ReceivedSpan[] {
  const next = spans.find(({ parentId, kind }) => parentId === first.spanId && kind !== 1);
  return [first, ...(next ? chainFrom(next, spans) : [])];
}

async function rpc(url: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return answer.json();
}

describe("each surface", () => {
  test.each([
    ["REST", (url: string) => rpc(`${url}/api/tools/echo`, { text: "x" }, { traceparent: TRACEPARENT })],
    [
      "JSON-RPC",
      (url: string) =>
        rpc(
          `${url}/jsonrpc`,
          { jsonrpc: "2.0", id: 1, method: "echo", params: { text: "x" } },
          { traceparent: TRACEPARENT },
        ),
    ],
    [
      "JSON-RPC without an id",
      (url: string) =>
        rpc(
          `${url}/jsonrpc`,
          { jsonrpc: "2.0", id: null, method: "echo", params: { text: "x" } },
          { traceparent: TRACEPARENT },
        ),
    ],
  ])("records one server span for a request by %s, as a child of the caller's span", async (_name, send) => {
    await using collector = await OtlpReceiver.start();
    const hub = await hubWith(otlp(collector.url, "one"));
    await send((await hub.serve()).address.url);
    await hub.close();
    const servers = collector.spans.filter(({ kind }) => kind === 2);
    expect(servers).toMatchObject([{ traceId: CALLER.traceId, parentId: CALLER.spanId, service: "one" }]);
    const others = collector.spans.filter(({ kind }) => kind !== 2);
    expect(others.every(({ name, parentId }) => name.startsWith("wait ") && parentId === servers[0]!.spanId)).toBe(
      true,
    );
  });

  test("names attributes by the conventions, and by the previous names on request", async () => {
    for (const [conventions, name] of [
      ["current", "gen_ai.tool.name"],
      ["previous", "mcp.tool.name"],
    ] as const) {
      await using collector = await OtlpReceiver.start();
      const hub = await hubWith(otlp(collector.url, "one", { conventions }));
      await rpc(`${(await hub.serve()).address.url}/jsonrpc`, { jsonrpc: "2.0", id: 7, method: "echo", params: {} });
      await hub.close();
      const [span] = collector.spans.filter(({ kind }) => kind === 2);
      expect(span!.attributes).toMatchObject({ [name]: "echo", "toolyard.outcome": "ok" });
    }
  });
});

describe("the export", () => {
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "echo",
    params: { text: "canary-argument", password: "canary-password" },
  };

  test("has no credential, and arguments only on request without secrets", async () => {
    await using collector = await OtlpReceiver.start();
    const hub = await hubWith(
      {
        ...otlp(collector.url, "one", { audit: true, headers: { "x-key": "canary-header" } }),
        logging: { level: "debug" },
        server: { tokens: { ann: { token: "${ANN}" } } },
      },
      { ANN: "canary9f8e7d6c5b4a39281706" },
    );
    const { url } = (await hub.serve()).address;
    const bearer = { authorization: "Bearer canary9f8e7d6c5b4a39281706" };
    await rpc(`${url}/jsonrpc`, call, bearer);
    await rpc(`${url}/api/tools/echo`, call.params, bearer);
    await rpc(`${url}/api/tools/canary9f8e7d6c5b4a39281706`, {}, bearer);
    await fetch(`${url}/api/tools?token=canary9f8e7d6c5b4a39281706`, {
      headers: { authorization: "Bearer canary-wrong-token" },
    });
    await hub.close();
    expect(collector.everything).not.toContain("canary");
    expect(collector.requests.every(({ headers }) => headers["x-key"] === "canary-header")).toBe(true);
    expect(collector.logs.some(({ attributes }) => attributes["event.name"] === "toolyard.audit")).toBe(true);
    expect(new Set(collector.requests.map(({ path }) => path))).toEqual(
      new Set(["/v1/traces", "/v1/metrics", "/v1/logs"]),
    );
  });

  test("has no credential of a caller by MCP in both eras, by HTTP+SSE or on stdio", { timeout: 60_000 }, async () => {
    const SECRET = "canary9f8e7d6c5b4a39281706";
    await using collector = await OtlpReceiver.start();
    const settings = {
      ...otlp(collector.url, "one", { audit: true, arguments: true, results: true }),
      logging: { level: "debug" },
    } as const;
    const hub = await hubWith({ ...settings, server: { tokens: { ann: { token: "${ANN}" } } } }, { ANN: SECRET });
    const { url } = (await hub.serve()).address;
    const requestInit = { headers: { authorization: `Bearer ${SECRET}` } };
    const call = { name: "echo", arguments: { text: `shown ${SECRET}`, password: "canary-password" } };
    const clients = [new ClientV1({ name: "v1", version: "1" }), new ClientV1({ name: "sse", version: "1" })] as const;
    await clients[0].connect(new HttpV1(new URL(`${url}/mcp`), { requestInit }) as never);
    await clients[1].connect(new SseV1(new URL(`${url}/sse`), { requestInit }) as never);
    const modern = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await modern.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    for (const client of [...clients, modern]) {
      await client.callTool(call);
      await client.callTool({ name: SECRET, arguments: {} }).catch(() => {});
      await client.close();
    }
    await hub.close();
    const variables = { ANN: SECRET };
    await using served = await ServeChild.start({
      config: { ...settings, server: { tokens: { ann: { token: "${ANN}" } } } } as unknown as HubConfig,
      endpoint: "stdio",
      env: variables,
    });
    const send = (message: object): boolean => served.stdin.write(`${JSON.stringify(message)}\n`);
    const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: SECRET, version: "1" } };
    send({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize });
    send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: SECRET, arguments: { key: SECRET } } });
    for await (const line of createInterface({ input: served.stdout })) if (line.includes('"id":2')) break;
    served.signal("SIGTERM");
    await served.exited;
    const servers = collector.spans.filter(({ kind }) => kind === 2);
    const endpoints = new Set(servers.map(({ attributes }) => attributes["toolyard.endpoint"]));
    expect(endpoints).toEqual(new Set(["mcp-http", "mcp-sse", "mcp-stdio"]));
    expect(collector.everything).toContain("shown");
    expect(collector.everything).not.toContain("canary");
  });

  test("contains arguments and results on request, without secrets", async () => {
    await using collector = await OtlpReceiver.start();
    const hub = await hubWith(
      {
        ...otlp(collector.url, "one", { arguments: true, results: true }),
        server: { tokens: { ann: { token: "${ANN}" } } },
      },
      { ANN: "canary9f8e7d6c5b4a39281706" },
    );
    const params = { text: "shown canary9f8e7d6c5b4a39281706" };
    const { url } = (await hub.serve()).address;
    await rpc(`${url}/jsonrpc`, { ...call, params }, { authorization: "Bearer canary9f8e7d6c5b4a39281706" });
    await hub.close();
    const [span] = collector.spans.filter(({ kind }) => kind === 2);
    expect(span!.attributes["gen_ai.tool.call.arguments"]).toContain("shown");
    expect(span!.attributes["gen_ai.tool.call.result"]).toContain("shown");
    expect(collector.everything).not.toContain("canary");
  });

  test("has metrics with a bounded number of series for any names", async () => {
    await using collector = await OtlpReceiver.start();
    const hub = await hubWith({
      telemetry: { max_tools: 5, otlp: { endpoint: collector.url, traces: false, logs: false } },
    });
    const { url } = (await hub.serve()).address;
    for (let index = 0; index < 40; index += 1) await rpc(`${url}/jsonrpc`, { ...call, method: `guess${index}` });
    await rpc(`${url}/jsonrpc`, call);
    await hub.close();
    const calls = collector.metrics.find(({ name }) => name === "toolyard.calls");
    const points = calls.sum.points.map((point: { attributes: never[]; double: number }) => ({
      ...pairs(point.attributes),
      value: point.double,
    }));
    expect(points).toHaveLength(2);
    expect(points).toContainEqual(
      expect.objectContaining({ "gen_ai.tool.name": "echo", "toolyard.outcome": "ok", value: 1 }),
    );
    const duration = collector.metrics.find(({ name }) => name === "mcp.server.operation.duration");
    expect(duration.histogram.points.map(({ count }: { count: number }) => count).toSorted()).toEqual([1, 40]);
    expect(collector.spans).toEqual([]);
  });
});

describe("a collector that", () => {
  const CALLS = 2500;
  const batch = JSON.stringify(
    Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, method: "echo", params: { text: "x" } })),
  );

  /** Makes more calls than the queue holds. Resolves when all are answered. */
  async function callAll(url: string): Promise<void> {
    for (let sent = 0; sent < CALLS; sent += 100) {
      const answer = await fetch(`${url}/jsonrpc`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: batch,
      });
      const replies = (await answer.json()) as { readonly result: unknown }[];
      expect(replies.every(({ result }) => result === "x")).toBe(true);
    }
  }

  test.each([
    ["never answers", undefined],
    ["is full", 503],
    ["refuses every request", 400],
  ])("%s delays no call, and the loss is counted and logged", async (_name, status) => {
    const open: ServerResponse[] = [];
    const server = createServer((incoming, answer) => {
      incoming.resume();
      open.push(answer);
      if (status !== undefined) answer.writeHead(status).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const log = new LogBook();
    const hub = await createHub({
      logger: log,
      settings: {
        server: { port: 0 },
        ...otlp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "one", { max_queue: 1100 }),
      },
      registerTools: (own) => own.registerTool("echo", ({ text }) => String(text), { type: "object" }, "Echoes"),
    });
    const before = processActivity.telemetryLost;
    await callAll((await hub.serve()).address.url);
    expect(open.length).toBeGreaterThan(0);
    await hub.close();
    server.closeAllConnections();
    expect(processActivity.telemetryLost - before).toBeGreaterThanOrEqual(CALLS - 1100);
    expect(log.lines.some(({ message }) => message.startsWith("Telemetry is lost"))).toBe(true);
  });
});

describe("the standard variables", () => {
  const at = async (variables: (url: string) => Record<string, string>) => {
    const collector = await OtlpReceiver.start();
    onTestFinished(() => collector[Symbol.asyncDispose]());
    const hub = await hubWith({}, variables(collector.url));
    await rpc(`${(await hub.serve()).address.url}/jsonrpc`, { jsonrpc: "2.0", id: 1, method: "echo", params: {} });
    await hub.close();
    return collector;
  };

  test("start the export with name, attributes, headers and sampler", async () => {
    const { spans, requests } = await at((url) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/base/`,
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b,other=c",
      OTEL_SERVICE_NAME: "named",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    }));
    expect(spans[0]).toMatchObject({ service: "named" });
    expect(requests[0]!.headers).toMatchObject({ "api-key": "a b", other: "c", "content-encoding": "gzip" });
    expect(requests.map(({ path }) => path)).not.toContain("/base/v1/metrics");
    expect(requests.map(({ path }) => path)).toContain("/base/v1/traces");
  });

  test("set the interval at which metrics are sent", async () => {
    await using collector = await OtlpReceiver.start();
    const hub = await hubWith(
      {},
      {
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`,
        OTEL_METRIC_EXPORT_INTERVAL: "1000",
      },
    );
    // Items of the other signals wait 5 seconds for further items.
    await expect.poll(() => collector.requests.length, { timeout: 4000 }).toBeGreaterThan(0);
    await hub.close();
  });

  test.each([
    ["OTEL_SDK_DISABLED", (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: "true" })],
    ["no endpoint", () => ({ OTEL_SERVICE_NAME: "named", OTEL_TRACES_SAMPLER: "always_on" })],
  ])("send nothing with %s", async (_name, variables) => {
    expect((await at(variables)).requests).toEqual([]);
  });

  test("send only the signal that has an address, to exactly this address", async () => {
    const { requests } = await at((url) => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/own/v1/traces` }));
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(["/own/v1/traces"]));
  });

  const GRPC = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };

  test("refuse another protocol with advice if the configuration requests telemetry", async () => {
    await expect(hubWith(otlp("http://127.0.0.1:4318", "refused"), GRPC)).rejects.toThrow(
      /OTEL_EXPORTER_OTLP_PROTOCOL.*grpc.*4318/s,
    );
  });

  test("that a hub cannot use (another protocol, an invalid ratio) do not keep it from starting", async () => {
    for (const variables of [GRPC, { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "5" }]) {
      const hub = await hubWith({}, variables);
      expect((await hub.serve()).address.url).toMatch(/^http/);
    }
  });
});

describe("without a configuration", () => {
  test("passes the caller's header on to a server, in `_meta` and as a header", async () => {
    const far = await hubWith({});
    const farUrl = (await far.serve()).address.url;
    await using collector = await OtlpReceiver.start();
    const middle = await hubWith({
      ...otlp(collector.url, "last"),
      mcp: { remote_servers: [{ namespace: "far", url: `${farUrl}/mcp` }] },
    });
    const middleUrl = (await middle.serve()).address.url;
    const near = await hubWith({ mcp: { remote_servers: [{ namespace: "mid", url: `${middleUrl}/mcp` }] } });
    const { url } = (await near.serve()).address;
    const answer = await rpc(`${url}/api/tools/mid__far__echo`, { text: "x" }, { traceparent: TRACEPARENT });
    expect(answer).toBe("x");
    await middle.close();
    const [server] = collector.spans.filter(({ kind, name }) => kind === 2 && name.startsWith("tools/call"));
    expect(server).toMatchObject({ traceId: CALLER.traceId, parentId: CALLER.spanId });
  });
});

describe("the code of the export", () => {
  const hook = new URL("../../bench/lib/trace-loads.mjs", import.meta.url).href;

  /** Returns the modules that a served hub loaded, after one call. */
  async function loadsWith(variables: Record<string, string>): Promise<string> {
    const env = { NODE_OPTIONS: `--import ${hook}`, NODE_NO_WARNINGS: "1", ...variables };
    await using served = await ServeChild.start({ config: {}, args: [], env });
    await rpc(new URL("/jsonrpc", served.url).href, {
      jsonrpc: "2.0",
      id: 1,
      method: "tool_search",
      params: { query: "x" },
    });
    served.signal("SIGTERM");
    await served.exited;
    return served.stderr;
  }

  test("is loaded only if a variable names a collector", async () => {
    await using collector = await OtlpReceiver.start();
    const loads = /otlp\/(?:live-otlp|tracer|call-stages|otlp-exporter)\.js|@opentelemetry/;
    expect(await loadsWith({ OTEL_SERVICE_NAME: "hub" })).not.toMatch(loads);
    expect(await loadsWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).toMatch(loads);
    expect(collector.spans.map(({ kind }) => kind)).toContain(2);
  });
});
