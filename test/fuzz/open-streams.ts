// Many legacy sessions with open standalone streams while other callers call at a steady rate and lists change. Some
// sessions do not read their stream.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServeChild, type MemoryReport } from "../support/serve-child.ts";

export interface StreamsOptions {
  readonly streams: number;
  readonly minutes: number;
  readonly callsPerSecond: number;
}

/**
 * One in this many streams is never read. Every other minute, as many callers request a large answer and do not read
 * it.
 */
const SILENT_SHARE = 50;
const SLOW_CALLERS = 20;
const LARGE_BYTES = 2_000_000;
/** Interval at which a list changes and every stream is notified. */
const CHANGE_EVERY_MS = 15_000;
const REVISION = "2025-11-25";

export interface Minute {
  readonly calls: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  readonly hasSlowCallers: boolean;
  readonly memory: MemoryReport;
}

export interface StreamsReport {
  readonly minutes: readonly Minute[];
  /** Received notifications, and the number that all readers together should have received. */
  readonly notifications: number;
  readonly due: number;
  readonly stillOpen: number;
}

// oxlint-disable-next-line toolyard/test-length -- One run from its yard to its report.
export async function runOpenStreams(
  { streams, minutes, callsPerSecond }: StreamsOptions,
  onMinute: (minute: Minute) => void,
): Promise<StreamsReport> {
  const folder = yard();
  const config = {
    server: { stream_stall: "10s" },
    limits: { rate_per_minute: 0, in_flight: 0 },
    logging: { format: "json" as const, level: "error" as const },
    modules: { paths: [join(folder, "modules")] },
    scripts: { tools_path: join(folder, "scripts") },
  };
  const served = await ServeChild.start({ config, reportsMemory: true });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const readers: Reader[] = [];
  const done: Minute[] = [];
  let changes = 0;
  const changer = setInterval(() => describeScript(folder, (changes += 1)), CHANGE_EVERY_MS);
  try {
    for (let at = 0; at < streams; at += 16) {
      const batch = Array.from({ length: Math.min(16, streams - at) }, (_, index) =>
        openReader(served.url, agent, (at + index) % SILENT_SHARE !== 0),
      );
      readers.push(...(await Promise.all(batch)));
    }
    const caller = await openSession(served.url, agent);
    for (let minute = 0; minute < minutes; minute += 1) {
      const hasSlowCallers = minute % 2 === 1;
      const slow = hasSlowCallers
        ? Array.from({ length: SLOW_CALLERS }, () => callAndReadNothing(served.url, caller))
        : [];
      const took = await callSteadily(served.url, agent, caller, callsPerSecond);
      for (const one of slow) one.destroy();
      const sorted = took.toSorted((a, b) => a - b);
      const row: Minute = {
        calls: took.length,
        p50: sorted[sorted.length >> 1]!,
        p99: sorted[Math.floor(sorted.length * 0.99)]!,
        most: sorted.at(-1)!,
        hasSlowCallers,
        memory: await served.memory(),
      };
      done.push(row);
      onMinute(row);
    }
    const reading = readers.filter(({ isReading }) => isReading);
    const notifications = reading.reduce((sum, { heard }) => sum + heard, 0);
    return {
      minutes: done,
      notifications,
      due: reading.length * changes,
      stillOpen: reading.filter(({ isOver }) => !isOver).length,
    };
  } finally {
    clearInterval(changer);
    for (const { response } of readers) response.destroy();
    agent.destroy();
    await served[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
}

function yard(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-streams-"));
  mkdirSync(join(folder, "modules/plain"), { recursive: true });
  mkdirSync(join(folder, "scripts/said"), { recursive: true });
  writeFileSync(
    join(folder, "modules/plain/mcp.mjs"),
    'export function registerTools(hub) {\n  hub.registerTool("plain.echo", ({ text }) => text);\n' +
      '  hub.registerTool("plain.large", ({ bytes }) => "x".repeat(bytes));\n}\n',
  );
  writeFileSync(join(folder, "scripts/said/run.sh"), "#!/bin/sh\necho said\n", { mode: 0o755 });
  describeScript(folder, 0);
  return folder;
}

function describeScript(folder: string, change: number): void {
  writeFileSync(
    join(folder, "scripts/said/tool.toml"),
    `name = "said"\ndescription = "Change number ${change}."\nscript = "run.sh"\n`,
  );
}

interface Reader {
  readonly response: IncomingMessage;
  readonly isReading: boolean;
  heard: number;
  isOver: boolean;
}

/** Opens a session with its standalone stream. Without reading, all data stays in the socket. */
async function openReader(url: string, agent: Agent, isReading: boolean): Promise<Reader> {
  const session = await openSession(url, agent);
  await post(url, agent, { method: "tools/list", id: 2 }, session);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(
      url,
      { method: "GET", agent: false, headers: { accept: "text/event-stream", ...session } },
      resolve,
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
  if (response.statusCode !== 200) throw new Error(`No standing stream: ${response.statusCode}`);
  const reader: Reader = { response, isReading, heard: 0, isOver: false };
  response.on("close", () => (reader.isOver = true)).on("error", () => {});
  if (isReading)
    response
      .setEncoding("utf8")
      .on("data", (text: string) => (reader.heard += text.split("notifications/tools/list_changed").length - 1));
  else response.pause();
  return reader;
}

type Headers = Readonly<Record<string, string>>;

async function openSession(url: string, agent: Agent): Promise<Headers> {
  const { headers } = await post(url, agent, {
    id: 1,
    method: "initialize",
    params: { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: "streams", version: "1" } },
  });
  const session = { "mcp-session-id": String(headers["mcp-session-id"]), "mcp-protocol-version": REVISION };
  await post(url, agent, { method: "notifications/initialized" }, session);
  return session;
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function post(
  url: string,
  agent: Agent,
  message: object,
  headers: Headers = {},
): Promise<{ readonly headers: IncomingMessage["headers"]; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", agent, headers: { ...JSON_HEADERS, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        response.statusCode! < 300
          ? resolve({ headers: response.headers, text })
          : reject(new Error(`${response.statusCode}: ${text.slice(0, 200)}`)),
      );
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
  });
}

/** Requests a large answer on a separate connection and never reads it. */
function callAndReadNothing(url: string, session: Headers): { destroy(): void } {
  const outgoing = request(
    url,
    { method: "POST", agent: false, headers: { ...JSON_HEADERS, ...session } },
    (response) => void response.on("error", () => {}).pause(),
  );
  outgoing.on("error", () => {});
  outgoing.end(
    JSON.stringify({
      jsonrpc: "2.0",
      id: (lastId += 1),
      method: "tools/call",
      params: { name: "plain.large", arguments: { bytes: LARGE_BYTES } },
    }),
  );
  return outgoing;
}

let lastId = 1000;

/**
 * Makes calls for one minute, each at its scheduled time even if the previous one is not answered. Returns the duration
 * of each in milliseconds.
 */
async function callSteadily(url: string, agent: Agent, session: Headers, perSecond: number): Promise<number[]> {
  const took: number[] = [];
  const startedAt = performance.now();
  const underWay = new Set<Promise<void>>();
  const call = async (): Promise<void> => {
    const text = `t${(lastId += 1)}`;
    const beganAt = performance.now();
    const answer = await post(
      url,
      agent,
      { id: lastId, method: "tools/call", params: { name: "plain.echo", arguments: { text } } },
      session,
    );
    if (!answer.text.includes(text)) throw new Error(`Somebody else's answer: ${answer.text.slice(0, 200)}`);
    took.push(performance.now() - beganAt);
  };
  for (let count = 0; count < perSecond * 60; count += 1) {
    const due = startedAt + (count * 1000) / perSecond;
    const waitMs = due - performance.now();
    if (waitMs > 0) await new Promise((resolve) => void setTimeout(resolve, waitMs));
    const work = call().finally(() => underWay.delete(work));
    underWay.add(work);
  }
  await Promise.all(underWay);
  return took;
}
