import { alwaysAdmitting, type Authentication, type Authenticator } from "../../core/ports/authenticator.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { resolveJsonLimits } from "../../http/options.ts";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGate, HubStandIn, text } from "../../../../../test/fixtures/hub-stand-in.ts";
import { createTestDeps, createTestModern, type EndpointSettings } from "../../../../../test/fixtures/mcp-endpoint.ts";
import { MALFORMED_LINES } from "../../../../../test/support/malformed.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { SessionDeps } from "./legacy/session.ts";
import type { ModernEndpoint } from "./modern/endpoint.ts";
import { StdioEndpoint } from "./stdio-endpoint.ts";
import type { Dialect } from "../dialect.ts";
import { createProtocolSink } from "../../process/stdout-guard.ts";

type Message = JsonObject & { id?: unknown; method?: string; result?: JsonObject; error?: { code: number } };

interface PipeSettings extends EndpointSettings {
  readonly authenticator?: Authenticator;
  readonly dialects?: Promise<readonly Dialect[]>;
  /** True if the input is paused when the endpoint opens, like a socket that was read before. */
  readonly isPaused?: boolean;
}

/** Endpoint on two pipes. Its output is split into lines, each of which must be JSON. */
class Pipe {
  readonly hub = new HubStandIn();
  readonly input = new PassThrough();
  readonly output: PassThrough;
  readonly endpoint: StdioEndpoint;
  readonly lines: string[] = [];
  readonly #deps: SessionDeps;
  readonly #modern: ModernEndpoint;
  #rest = "";
  #wake = createGate();

  constructor(settings: PipeSettings = {}, highWaterMark = 65_536) {
    this.output = new PassThrough({ highWaterMark });
    this.#deps = createTestDeps(this.hub, settings);
    this.#modern = createTestModern(this.hub);
    this.endpoint = new StdioEndpoint({
      authenticator: settings.authenticator ?? alwaysAdmitting(LOCAL_PRINCIPAL),
      jsonLimits: resolveJsonLimits(),
      ...this.#deps,
      input: this.input,
      output: createProtocolSink(this.output),
      modern: this.#modern,
      ...(settings.dialects && { dialects: settings.dialects }),
    });
    if (settings.isPaused === true) this.input.pause();
    this.endpoint.start();
  }

  read(): void {
    this.output.on("data", (chunk: Buffer) => {
      const parts = (this.#rest + chunk.toString()).split("\n");
      this.#rest = parts.pop() ?? "";
      this.lines.push(...parts);
      this.#wake.open();
    });
  }

  get values(): unknown[] {
    return this.lines.map((line) => JSON.parse(line) as unknown);
  }

  get messages(): Message[] {
    return this.values.flat() as Message[];
  }

  send(...values: unknown[]): void {
    this.input.write(
      values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)) + "\n").join(""),
    );
  }

  async until(matches: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.messages.find(matches);
      if (found) return found;
      this.#wake = createGate();
      await this.#wake.opened;
    }
  }

  reply(id: unknown): Promise<Message> {
    return this.until((message) => message.id === id && message.method === undefined);
  }

  async close(): Promise<void> {
    this.output.resume();
    await this.endpoint.close(0);
    this.#modern.close();
    this.#deps.board.close();
  }
}

let pipe: Pipe;
const pipes: Pipe[] = [];

function open(settings?: PipeSettings, highWaterMark?: number): Pipe {
  const opened = new Pipe(settings, highWaterMark);
  pipes.push(opened);
  return opened;
}

beforeEach(() => {
  pipe = open();
  pipe.read();
});

afterEach(async () => {
  await Promise.all(pipes.splice(0).map((opened) => opened.close()));
});

const rpc = (id: unknown, method: string, params?: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params ? { params } : {}),
});
const INITIALIZE = rpc(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {} },
  clientInfo: { name: "t", version: "1" },
});
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const modern = (id: unknown, method: string, params: JsonObject = {}): JsonObject =>
  rpc(id, method, { ...params, _meta: ENVELOPE });

describe("lines", () => {
  test("R13: answers a whole handshake in one chunk line by line", async () => {
    pipe.send(
      INITIALIZE,
      INITIALIZED,
      rpc(1, "tools/list"),
      rpc(2, "tools/call", { name: "echo", arguments: { text: "a\nb\u2028c" } }),
    );
    expect((await pipe.reply(2)).result).toMatchObject({ content: [{ text: "a\nb\u2028c" }] });
    expect((await pipe.reply(0)).result).toMatchObject({ protocolVersion: "2025-11-25" });
    expect((await pipe.reply(1)).result?.["tools"]).toBeDefined();
    expect(pipe.lines).toHaveLength(3);
  });

  test("reassembles messages that were split at any position, also within a character", async () => {
    const bytes = Buffer.from(
      `${JSON.stringify(rpc(1, "tools/call", { name: "echo", arguments: { text: "Grüße 🙂 日本" } }))}\r\n\n  \n`,
    );
    for (const byte of bytes) pipe.input.write(Buffer.of(byte));
    expect((await pipe.reply(1)).result).toMatchObject({ content: [{ text: "Grüße 🙂 日本" }] });
  });

  test.each(MALFORMED_LINES)("G22: refuses a line of %s and serves the next one", async (_, line, code, id) => {
    pipe.send(line, rpc("after", "ping"));
    await pipe.reply("after");
    expect(pipe.messages[0]).toMatchObject({ jsonrpc: "2.0", id, error: { code } });
    expect(pipe.lines).toHaveLength(2);
  });

  test("S4: refuses a line over the limit once without buffering it, and serves the next one", async () => {
    for (let at = 0; at < 11; at += 1) pipe.input.write(Buffer.alloc(1024 * 1024, 0x61));
    pipe.input.write("\n");
    pipe.send(rpc(1, "ping"));
    await pipe.reply(1);
    expect(pipe.messages).toMatchObject([{ id: null, error: { code: -32600 } }, { id: 1 }]);
  });

  test("S4: refuses a line with too many keys in an object, names the limit, and serves the next one", async () => {
    const { maxJsonKeys } = resolveJsonLimits();
    const objectOf = (keys: number): JsonObject =>
      Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 0]));
    pipe.send(rpc("wide", "ping", objectOf(maxJsonKeys + 1)), rpc("after", "ping", objectOf(maxJsonKeys - 10)));
    await pipe.reply("after");
    expect(pipe.messages).toMatchObject([
      { id: null, error: { code: -32600, message: expect.stringContaining("`server.max_json_keys`") } },
      { id: "after" },
    ]);
  });

  test("G20: ignores blank lines", async () => {
    pipe.send("", "   ", rpc(1, "ping"));
    await pipe.reply(1);
    expect(pipe.lines).toHaveLength(1);
  });

  test("reads a message after a byte order mark, on the first line and on a later one", async () => {
    pipe.send(`\uFEFF${JSON.stringify(rpc(1, "ping"))}`, `\uFEFF${JSON.stringify(rpc(2, "ping"))}`);
    expect([(await pipe.reply(1)).result, (await pipe.reply(2)).result]).toEqual([{}, {}]);
  });

  test("C17: answers a batch with one array, and a batch of notifications with nothing", async () => {
    pipe.send([INITIALIZED, INITIALIZED], [rpc(1, "ping"), INITIALIZED, { id: 2 }, rpc(3, "ping")]);
    await pipe.reply(3);
    expect(pipe.values).toHaveLength(1);
    expect((pipe.values[0] as Message[]).map(({ id, error }) => [id, error?.code])).toEqual(
      expect.arrayContaining([
        [1, undefined],
        [null, -32600],
        [3, undefined],
      ]),
    );
  });
});

describe("authentication of the client", () => {
  const principal = { id: "guest", rights: { allow: ["echo"] } };

  test("authenticates once, before it reads any message", async () => {
    const asked = createGate();
    const decided: { admit?: (found: Authentication) => void } = {};
    const authenticate = (): Promise<Authentication> => {
      asked.open();
      return new Promise((resolve) => (decided.admit = resolve));
    };
    const guarded = open({ authenticator: { authenticate } });
    guarded.read();
    guarded.send(rpc(1, "tools/call", { name: "echo" }), modern(2, "tools/call", { name: "echo" }));
    await asked.opened;
    expect(guarded.hub.calls).toEqual([]);
    decided.admit?.({ admitted: true, principal });
    await guarded.reply(1);
    await guarded.reply(2);
    expect(guarded.hub.calls.map((call) => call.principal)).toEqual([principal, principal]);
  });

  test.each<[string, Authenticator["authenticate"]]>([
    ["is not admitted", () => ({ admitted: false, message: "Nobody knows you", challenge: "" })],
    ["cannot be authenticated", () => Promise.reject(new Error("Nobody knows you"))],
  ])("reports a client that %s once, and reads none of its messages", async (_, authenticate) => {
    const refused = open({ authenticator: { authenticate } });
    refused.read();
    refused.send(rpc(1, "tools/call", { name: "echo" }));
    await refused.endpoint.done;
    expect(refused.messages).toMatchObject([
      { id: null, error: { code: -32600, message: expect.stringContaining("Nobody knows you") } },
    ]);
    expect(refused.hub.calls).toEqual([]);
  });
});

describe("both eras on one pipe", () => {
  test("answers each message in its own era", async () => {
    pipe.send(
      INITIALIZE,
      modern(1, "server/discover"),
      modern(2, "tools/call", { name: "echo", arguments: { text: "m" } }),
      rpc(3, "server/discover"),
    );
    expect((await pipe.reply(0)).result).toMatchObject({ protocolVersion: "2025-11-25" });
    expect((await pipe.reply(1)).result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    expect((await pipe.reply(2)).result).toMatchObject({ resultType: "complete", content: [{ text: "m" }] });
    expect((await pipe.reply(3)).error?.code).toBe(-32601);
  });

  test("C2: names the supported revisions if a modern request has an unknown one", async () => {
    pipe.send(
      rpc(1, "tools/list", { _meta: { ...ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2030-01-01" } }),
    );
    expect((await pipe.reply(1)).error).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: "2030-01-01" },
    });
  });

  test("cancels a modern call by notification, with or without an envelope", async () => {
    for (const [id, params] of [
      [1, {}],
      [2, { _meta: ENVELOPE }],
    ] as const) {
      const started = once2(pipe.hub);
      pipe.send(modern(id, "tools/call", { name: "slow" }));
      const call = await started;
      const aborted = once(call.signal, "abort");
      pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, ...params } });
      await aborted;
    }
    pipe.send(rpc(3, "ping"));
    await pipe.reply(3);
    expect(pipe.lines).toHaveLength(1);
  });

  test("C46: refuses the id of a running request in the modern era too", async () => {
    pipe.send(modern(1, "tools/call", { name: "slow" }), modern(1, "tools/list"));
    expect((await pipe.reply(1)).error?.code).toBe(-32600);
    pipe.hub.gate.open();
    await pipe.until(({ id, result }) => id === 1 && result !== undefined);
  });
});

function once2(hub: HubStandIn): Promise<{ signal: AbortSignal }> {
  return new Promise((resolve) => {
    const stop = hub.started.on((call) => {
      stop();
      resolve(call);
    });
  });
}

describe("progress", () => {
  test.each([
    ["legacy", rpc],
    ["modern", (id: unknown, method: string, params: JsonObject) => modern(id, method, params)],
  ])("delays the reply after the last progress in the %s era", async (_, build) => {
    let lastProgressAt = 0;
    pipe.hub.handlers["last"] = (call) => {
      // Measured first, so that a delay of the machine after this line does not count as the endpoint's.
      lastProgressAt = performance.now();
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      return { ok: true, result: text("done") };
    };
    const message = build(1, "tools/call", { name: "last" });
    const params = message["params"] as JsonObject;
    pipe.send({ ...message, params: { ...params, _meta: { ...(params["_meta"] as JsonObject), progressToken: 3 } } });
    await pipe.reply(1);
    expect(performance.now() - lastProgressAt).toBeGreaterThan(4);
    expect(pipe.messages.map(({ method, id }) => method ?? id)).toEqual(["notifications/progress", 1]);
  });
});

describe("end of input", () => {
  test("answers running requests when the input ends, then resolves", async () => {
    const started = once2(pipe.hub);
    pipe.send(INITIALIZE, rpc(1, "tools/call", { name: "slow" }));
    pipe.input.end(JSON.stringify(rpc(2, "ping")));
    await started;
    await pipe.reply(2);
    pipe.hub.gate.open();
    await pipe.endpoint.done;
    expect(pipe.messages.find(({ id }) => id === 1)?.result).toEqual(text("done"));
    expect(pipe.hub.released).toHaveLength(1);
  });

  test("does not wait for a server request that the client can no longer answer", async () => {
    pipe.send(INITIALIZE, rpc(1, "tools/call", { name: "ask" }));
    await pipe.until(({ method }) => method === "elicitation/create");
    pipe.input.end();
    await pipe.endpoint.done;
    expect(pipe.messages.find(({ id, method }) => id === 1 && !method)?.result).toMatchObject({ isError: true });
  });

  test("does not wait for a listening modern request", async () => {
    pipe.send(modern(1, "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    await pipe.until(({ method }) => method !== undefined);
    pipe.input.end();
    await pipe.endpoint.done;
    expect(pipe.messages.some(({ error }) => error)).toBe(false);
  });

  test("on close, answers requests that do not end in time with an error, in both eras", async () => {
    pipe.send(INITIALIZE, rpc(1, "tools/call", { name: "slow" }), modern(2, "tools/call", { name: "slow" }));
    await expect.poll(() => pipe.hub.calls).toHaveLength(2);
    await pipe.endpoint.close(0);
    expect(pipe.messages.filter(({ id }) => id !== 0)).toMatchObject([
      { id: 1, error: { code: -32603 } },
      { id: 2, error: { code: -32603 } },
    ]);
  });

  test("a later close with less time shortens a running drain", async () => {
    pipe.send(rpc(1, "tools/call", { name: "slow" }));
    await expect.poll(() => pipe.hub.calls).toHaveLength(1);
    pipe.input.end();
    await pipe.endpoint.close(0);
    expect((await pipe.reply(1)).error?.code).toBe(-32603);
  });

  test("a client that closes its reading end ends the endpoint and its calls", async () => {
    const started = once2(pipe.hub);
    pipe.send(rpc(1, "tools/call", { name: "slow" }));
    const call = await started;
    pipe.output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    await pipe.endpoint.done;
    expect(call.signal.aborted).toBe(true);
  });
});

describe("backpressure", () => {
  test("stops reading while the client does not read, then continues without loss", async () => {
    const slow = open({}, 1024);
    const big = "x".repeat(300_000);
    for (let id = 0; id < 8; id += 1) slow.send(rpc(id, "tools/call", { name: "echo", arguments: { text: big } }));
    await expect.poll(() => slow.input.isPaused()).toBe(true);
    slow.read();
    for (let id = 0; id < 8; id += 1) expect((await slow.reply(id)).result).toMatchObject({ content: [{ text: big }] });
    expect(slow.input.isPaused()).toBe(false);
  });
});

test("answers messages that arrived while the dialects were loading, also on a paused input", async () => {
  let loaded: (dialects: readonly Dialect[]) => void = () => {};
  const late = open({ dialects: new Promise((resolve) => (loaded = resolve)), isPaused: true });
  late.read();
  late.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  await new Promise((done) => void setImmediate(done));
  expect(late.lines).toEqual([]);
  loaded([]);
  expect(await late.reply(1)).toMatchObject({ id: 1, result: {} });
});

test("ends the connection if the dialects cannot be loaded", async () => {
  const broken = open({ dialects: Promise.reject(new Error("no such file")) });
  broken.read();
  await broken.endpoint.done;
  expect(broken.lines).toEqual([]);
});
