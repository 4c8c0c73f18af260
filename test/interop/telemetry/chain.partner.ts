// A trace through client, two hubs, a server on the Python SDK and its tool, received by third-party software: an
// OpenTelemetry Collector, and the official messages in Python.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { stringify } from "smol-toml";
import { createHub, type HubConfig, type LibraryHub } from "../../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { freePort } from "../../support/free-port.ts";
import { CLI } from "../../support/serve-child.ts";

const { COLLECTOR = "", PROTO_PYTHON = "", SDK_PYTHON = "" } = process.env;
const SERVER = fileURLToPath(new URL("server.py", import.meta.url));
const RECEIVER = fileURLToPath(new URL("receiver.py", import.meta.url));
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const META = { traceparent: `00-${TRACE}-${PARENT}-01` };
const TOOL = { name: "far__last__where", arguments: {}, _meta: META as never };

interface Span {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string;
  readonly name: string;
  readonly kind: string;
}

/** Third-party software that receives telemetry. */
interface Receiver {
  readonly url: string;
  spans(): readonly Span[];
  /** Names of the received metrics. */
  metrics(): readonly string[];
  /** Texts of the received log records. */
  logs(): readonly string[];
  /** Problems that the receiver found in requests. */
  problems(): readonly unknown[];
}

function started(command: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(command, args);
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  return child;
}

/** Starts a Collector that prints everything it receives. */
async function startCollector(): Promise<Receiver> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "toolyard-collector-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "config.yaml");
  const pipeline = "{ receivers: [otlp], exporters: [debug] }";
  writeFileSync(
    file,
    `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
exporters: { debug: { verbosity: detailed, use_internal_logger: false } }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { traces: ${pipeline}, metrics: ${pipeline}, logs: ${pipeline} }
`,
  );
  const child = started(COLLECTOR, ["--config", `file:${file}`]);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (output += text));
  for await (const line of createInterface({ input: child.stderr })) if (line.includes("Everything is ready")) break;
  child.stderr.resume();
  const all = (pattern: RegExp): string[] => Array.from(output.matchAll(pattern), ([, value]) => value!.trim());
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      output
        .split(/^Span #\d+$/m)
        .slice(1)
        .map((text) => {
          const member = (name: string): string => new RegExp(`^ +${name} +: (.*)$`, "m").exec(text)?.[1] ?? "";
          return {
            traceId: member("Trace ID"),
            id: member("ID"),
            parentId: member("Parent ID"),
            name: member("Name"),
            kind: member("Kind").toLowerCase(),
          };
        }),
    metrics: () => all(/^ +-> Name: (.*)$/gm),
    logs: () => all(/^Body: Str\((.*)\)$/gm),
    problems: () => [],
  };
}

interface OfficialRequest {
  readonly path: string;
  readonly unknown: number;
  // Messages in the official JSON form, which the test reads by name.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly message: any;
}

/** Starts the receiver that decodes with the official messages, and refuses one span of each request. */
async function startPython(): Promise<Receiver> {
  const child = started(PROTO_PYTHON, [RECEIVER]);
  const lines = createInterface({ input: child.stdout });
  const [port] = (await once(lines, "line")) as [string];
  const requests: OfficialRequest[] = [];
  lines.on("line", (line) => void requests.push(JSON.parse(line) as OfficialRequest));
  const hex = (base64 = ""): string => Buffer.from(base64, "base64").toString("hex");
  const items = (path: string, resources: string, scopes: string, list: string): Record<string, unknown>[] =>
    requests
      .filter((request) => request.path === path)
      .flatMap(({ message }) => message[resources])
      .flatMap((resource) => resource[scopes])
      .flatMap((scope) => scope[list]);
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      items("/v1/traces", "resourceSpans", "scopeSpans", "spans").map((span) => ({
        traceId: hex(span["traceId"] as string),
        id: hex(span["spanId"] as string),
        parentId: hex(span["parentSpanId"] as string),
        name: String(span["name"]),
        kind: String(span["kind"]).replace("SPAN_KIND_", "").toLowerCase(),
      })),
    metrics: () => items("/v1/metrics", "resourceMetrics", "scopeMetrics", "metrics").map(({ name }) => String(name)),
    logs: () =>
      items("/v1/logs", "resourceLogs", "scopeLogs", "logRecords").map(({ body }) =>
        String((body as { stringValue?: string }).stringValue),
      ),
    problems: () => requests.filter(({ unknown }) => unknown > 0),
  };
}

const settingsOf = (url: string, service: string, settings: HubConfig): HubConfig => ({
  logging: { level: "info" },
  ...settings,
  telemetry: { otlp: { endpoint: url, service_name: service, audit: true } },
});

async function openHub(url: string, service: string, settings: HubConfig): Promise<LibraryHub> {
  const hub = await createHub({
    variables: { PATH: process.env["PATH"] },
    settings: { server: { port: 0 }, ...settingsOf(url, service, settings) },
    ...(service === "far" && { logger: SILENT_LOGGER }),
  });
  onTestFinished(() => hub.close());
  return hub;
}

type Face = Pick<ClientV1, "close"> & { callTool(call: typeof TOOL): Promise<unknown> };
type Transport = Parameters<ClientV1["connect"]>[0];

async function connect(era: string, v1: () => Transport, v2: () => Parameters<Client["connect"]>[0]): Promise<Face> {
  if (era === "legacy") {
    const client = new ClientV1({ name: "v1", version: "1" });
    await client.connect(v1());
    return client as unknown as Face;
  }
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(v2());
  return client as unknown as Face;
}

const RECEIVERS = [
  ["an OpenTelemetry Collector", COLLECTOR, startCollector],
  ["the official messages in Python", PROTO_PYTHON, startPython],
] as const;

describe.each(RECEIVERS)("%s", (_receiver, program, start) => {
  test.skipIf(program === "" || SDK_PYTHON === "").for([
    ["legacy", "HTTP"],
    ["modern", "HTTP"],
    ["legacy", "stdio"],
    ["modern", "stdio"],
  ] as const)(
    "receives one connected trace of a %s client's call over %s",
    { timeout: 120_000 },
    async ([era, way]) => {
      const receiver = await start();
      const far = await openHub(receiver.url, "far", {
        mcp: { stdio_servers: { last: { command: [SDK_PYTHON, SERVER] } } },
      });
      const nearSettings: HubConfig = {
        mcp: { remote_servers: [{ namespace: "far", url: `${(await far.serve()).address.url}/mcp` }] },
      };
      let client: Face;
      let closeNear = (): Promise<void> => Promise.resolve();
      if (way === "HTTP") {
        const near = await openHub(receiver.url, "near", nearSettings);
        const url = new URL(`${(await near.serve()).address.url}/mcp`);
        closeNear = () => near.close();
        client = await connect(
          era,
          () => new HttpV1(url) as Transport,
          () => new StreamableHTTPClientTransport(url),
        );
      } else {
        const folder = mkdtempSync(join(tmpdir(), "toolyard-near-"));
        onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
        const config = join(folder, "toolyard.toml");
        writeFileSync(config, stringify(settingsOf(receiver.url, "near", nearSettings)));
        const args = [CLI, "serve", "--stdio", "--config", config];
        const command = { command: process.execPath, args, stderr: "ignore" } as const;
        client = await connect(
          era,
          () => new StdioV1(command),
          () => new StdioClientTransport(command),
        );
      }
      const answer = (await client.callTool(TOOL)) as { readonly content: readonly { readonly text: string }[] };
      await client.close();
      await Promise.all([closeNear(), far.close()]);
      const own = () => receiver.spans().filter(({ traceId }) => traceId === TRACE);
      await expect.poll(() => own().filter(({ kind }) => kind !== "internal").length, { timeout: 20_000 }).toBe(4);
      const chain: Span[] = [];
      for (let parentId = PARENT; ;) {
        const next = own().find((span) => span.parentId === parentId && span.kind !== "internal");
        if (!next) break;
        chain.push(next);
        parentId = next.id;
      }
      expect(chain.map(({ kind }) => kind)).toEqual(["server", "client", "server", "client"]);
      // Asserts that the parent of every span is a span of the trace.
      const ids = new Set([PARENT, ...own().map(({ id }) => id)]);
      expect(own().filter(({ parentId }) => !ids.has(parentId))).toEqual([]);
      expect(answer.content[0]!.text).toBe(`00-${TRACE}-${chain.at(-1)!.id}-01`);
      await expect.poll(() => receiver.metrics(), { timeout: 20_000 }).toContain("mcp.server.operation.duration");
      expect(receiver.metrics()).toEqual(expect.arrayContaining(["toolyard.calls", "toolyard.source.up"]));
      expect(receiver.logs().some((text) => text.includes('"event":"call"'))).toBe(true);
      expect(receiver.problems()).toEqual([]);
    },
  );
});
