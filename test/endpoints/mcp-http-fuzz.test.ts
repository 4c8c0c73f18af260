// Thousands of malformed requests to the HTTP endpoint, from a seed: each gets one answer with its id, and no state is
// left behind.
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { classifyMessage } from "../../packages/toolyard/src/wire/messages.ts";
import { createRandom, type Random } from "../support/random.ts";
import { envelope, ModernServer, REVISION } from "../support/modern-server.ts";

const CASES = Number(process.env["TOOLYARD_FUZZ_CASES"] ?? 5000);
const SEED = Number(process.env["TOOLYARD_FUZZ_SEED"] ?? 20_260_728);
/** 403 is the answer to an `Origin` that differs from the request's `Host`, which some of the requests have. */
const STATUSES = new Set([200, 202, 400, 403, 404, 406, 413, 415]);

let server: ModernServer;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  server = await ModernServer.start({ http: { max_body_bytes: 16_384 } });
});

afterAll(async () => {
  agent.destroy();
  await server[Symbol.asyncDispose]();
});

interface Sample {
  readonly method: string;
  readonly params: JsonObject;
}

const SAMPLES: readonly Sample[] = [
  { method: "server/discover", params: {} },
  { method: "tools/list", params: {} },
  { method: "tools/call", params: { name: "echo", arguments: { text: "hi", list: [1, { a: null }] } } },
  { method: "tools/call", params: { name: "progress", arguments: { steps: 2 } } },
  { method: "tools/call", params: { name: "fail", arguments: {} } },
  { method: "tools/call", params: { name: "throws", arguments: {} } },
  {
    method: "tools/call",
    params: { name: "echo", inputResponses: { a: { action: "accept" } }, requestState: "toolyard:a.b" },
  },
  { method: "resources/read", params: { uri: "test://a" } },
  { method: "prompts/get", params: { name: "hello", arguments: { who: "x" } } },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "hello" }, argument: { name: "who", value: "" } },
  },
  { method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: ["nowhere://x"] } } },
];

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "x",
  "__proto__",
  "\u0000",
  "\ud800",
  [],
  {},
  [[[]]],
  { __proto__: null, a: 1 },
  "a".repeat(300),
];

const KEYS = ["", "x", "__proto__", "constructor", "id", "method", "_meta", "jsonrpc", "params", "cursor"];

/** Replaces, removes or adds one random member of a value. */
function mutate(value: unknown, random: Random): unknown {
  if (random.below(4) === 0) return random.pick(VALUES);
  if (Array.isArray(value))
    return value.length === 0
      ? [random.pick(VALUES)]
      : value.map((entry, at) => (at === random.below(value.length) ? mutate(entry, random) : entry));
  if (!isJsonObject(value)) return random.pick(VALUES);
  const keys = Object.keys(value);
  const key = keys.length === 0 || random.below(8) === 0 ? random.pick(KEYS) : random.pick(keys);
  if (random.below(6) === 0) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  return { ...value, [key]: mutate(value[key], random) };
}

/** Damages the text itself: truncates it, duplicates a part, changes bytes. */
function scramble(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text);
  const at = random.below(bytes.length);
  switch (random.below(5)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes, bytes.subarray(at)]);
    case 2:
      return Buffer.from("[".repeat(random.below(9000)) + text);
    case 3:
      return Buffer.concat([bytes, Buffer.alloc(random.below(40_000), 0x20)]);
    default:
      bytes[at] = random.below(256);
      return bytes;
  }
}

function headersFor(sample: Sample, random: Random): Record<string, string> {
  const { name, uri } = sample.params;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "mcp-protocol-version": REVISION,
    "mcp-method": sample.method,
    ...((name ?? uri) !== undefined && { "mcp-name": String(name ?? uri) }),
  };
  if (random.below(3) > 0) return headers;
  const words = [
    "",
    "2025-11-25",
    "zzz",
    "=?base64?!?=",
    "tools/call",
    "application/json",
    "text/event-stream",
    "a".repeat(200),
  ];
  const names = [
    "content-type",
    "accept",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-x",
    "mcp-session-id",
    "x-mcp-tool-mode",
    "origin",
  ];
  const broken = random.pick(names);
  return { ...headers, [broken]: broken === "origin" ? "http://localhost" : random.pick(words) };
}

async function send(
  body: Buffer,
  headers: Record<string, string>,
): Promise<{ status: number; type: string; text: string }> {
  const request = httpRequest(server.url, {
    method: "POST",
    agent,
    headers: { ...headers, "content-length": body.length },
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    type: response.headers["content-type"] ?? "",
    text: Buffer.concat(chunks).toString(),
  };
}

function repliesOf(type: string, text: string): JsonObject[] {
  const texts = type.startsWith("text/event-stream")
    ? text
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice(6))
    : text === ""
      ? []
      : [text];
  return texts.map((each) => JSON.parse(each) as JsonObject).filter((message) => !("method" in message));
}

/** Returns the id that the reply should have: that of the body if it can be parsed as one request. */
function expectedId(body: Buffer): unknown {
  try {
    const classified = classifyMessage(JSON.parse(body.toString()));
    if (classified.type === "request") return classified.message.id;
    return classified.type === "invalid" ? classified.id : null;
  } catch {
    return null;
  }
}

// oxlint-disable-next-line complexity -- One line per promise that is checked.
async function runCase(seed: number): Promise<void> {
  const random = createRandom(seed);
  const sample = random.pick(SAMPLES);
  const message = {
    jsonrpc: "2.0",
    id: random.pick([0, 1, "a", ""]),
    method: sample.method,
    params: { ...sample.params, _meta: { ...envelope({ logLevel: "debug" }), progressToken: 1 } },
  };
  const mutated = random.below(3) === 0 ? message : mutate(message, random);
  const text = JSON.stringify(mutated) ?? "null";
  const body = random.below(4) === 0 ? scramble(text, random) : Buffer.from(text);
  const answer = await send(body, headersFor(sample, random));
  const where = `seed ${seed}: ${answer.status} ${answer.text.slice(0, 300)} for ${body.toString().slice(0, 300)}`;
  if (!STATUSES.has(answer.status)) throw new Error(`An unexpected status, ${where}`);
  const replies = repliesOf(answer.type, answer.text);
  if (answer.status === 202 ? replies.length > 0 : replies.length !== 1)
    throw new Error(`${replies.length} replies, ${where}`);
  const id = replies[0]?.["id"];
  if (id !== undefined && id !== null && id !== expectedId(body)) throw new Error(`The id of somebody else, ${where}`);
  if (answer.status === 200 && id !== expectedId(body)) throw new Error(`An answer without its id, ${where}`);
}

test(
  `S4: ${CASES} malformed requests get one answer each, with their id and an expected status`,
  { timeout: 60_000 + CASES * 5 },
  async () => {
    let next = SEED;
    const end = SEED + CASES;
    const worker = async (): Promise<void> => {
      while (next < end) await runCase((next += 1));
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(server.endpoint.load).toEqual({ parked: 0, listening: 0 });
    expect((await server.ask("tools/call", { name: "echo", arguments: { text: "still here" } })).last).toMatchObject({
      result: { content: [{ text: "still here" }] },
    });
  },
);
