// Malformed messages from a seed: a valid one, mutated as a value, then as text, then as bytes.
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { META } from "../../packages/toolyard/src/wire/modern/envelope.ts";
import type { Random } from "../support/random.ts";

export type Era = "legacy" | "modern";

export interface Sample {
  readonly method: string;
  readonly params: JsonObject;
}

/** One message, or one batch, and its origin. */
export interface FuzzCase {
  readonly bytes: Buffer;
  readonly era: Era;
  /** The message before its mutation, for HTTP headers that repeat its method or the name of its target. */
  readonly sample: Sample;
}

const SHARED: readonly Sample[] = [
  { method: "tools/list", params: {} },
  { method: "tools/call", params: { name: "echo", arguments: { text: "hi", list: [1, { a: null }] } } },
  { method: "tools/call", params: { name: "progress", arguments: { steps: 2 } } },
  { method: "tools/call", params: { name: "fail", arguments: {} } },
  { method: "tools/call", params: { name: "later", arguments: {} } },
  { method: "tools/call", params: { name: "up__twice", arguments: {} } },
  { method: "tools/call", params: { name: "up__wrong-id", arguments: {} } },
  { method: "tools/call", params: { name: "tool_search", arguments: { query: "say again", max_results: 3 } } },
  {
    method: "tools/call",
    params: { name: "execute_tool", arguments: { tool_name: "echo", arguments: { text: "x" } } },
  },
  { method: "tools/call", params: { name: "no such tool", arguments: {} } },
  { method: "resources/list", params: {} },
  { method: "resources/templates/list", params: {} },
  { method: "resources/read", params: { uri: "test://a" } },
  { method: "resources/read", params: { uri: "test://by/ada" } },
  { method: "prompts/list", params: {} },
  { method: "prompts/get", params: { name: "hello", arguments: { who: "x" } } },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "hello" }, argument: { name: "who", value: "" } },
  },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/resource", uri: "test://by/{name}" }, argument: { name: "name", value: "a" } },
  },
];

const SAMPLES: Readonly<Record<Era, readonly Sample[]>> = {
  legacy: [
    ...SHARED,
    { method: "ping", params: {} },
    {
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "f", version: "1" } },
    },
    { method: "logging/setLevel", params: { level: "error" } },
    { method: "resources/subscribe", params: { uri: "test://a" } },
    { method: "resources/unsubscribe", params: { uri: "test://a" } },
  ],
  modern: [
    ...SHARED,
    { method: "server/discover", params: {} },
    {
      method: "tools/call",
      params: { name: "echo", inputResponses: { a: { action: "accept" } }, requestState: "toolyard:a.b" },
    },
  ],
};

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53 + 2,
  "",
  "x",
  "__proto__",
  "\u0000",
  "\ud800",
  "\u2028",
  "𝔘",
  "a\nb",
  [],
  {},
  [[[]]],
  { a: { b: [] } },
  "a".repeat(300),
];
const KEYS = [
  "",
  "x",
  "__proto__",
  "constructor",
  "toString",
  "id",
  "method",
  "_meta",
  "jsonrpc",
  "params",
  "cursor",
  "name",
  "arguments",
  "result",
  "error",
];
/** Literals that programs do not usually write. */
const LITERALS = [
  "1e400",
  "-0",
  "-1e-400",
  "123456789012345678901234567890",
  "0.1e1",
  '"\\ud800"',
  '"\\u0000"',
  '{"a":1,"a":2}',
  "[[[[[[[[]]]]]]]]",
];

/** Replaces, removes or adds one random member of a value. */
function mutate(value: unknown, random: Random): unknown {
  if (random.below(4) === 0) return random.pick(VALUES);
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1);
    return value.length === 0
      ? [random.pick(VALUES)]
      : value.map((entry, index) => (index === at ? mutate(entry, random) : entry));
  }
  if (!isJsonObject(value)) return random.pick(VALUES);
  const keys = Object.keys(value);
  const key = keys.length === 0 || random.below(8) === 0 ? random.pick(KEYS) : random.pick(keys);
  if (random.below(6) === 0) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  return { ...value, [key]: mutate(value[key], random) };
}

/** Damages the text: another literal, a duplicate key, deep nesting. */
function mutateText(text: string, random: Random): string {
  switch (random.below(4)) {
    case 0:
      return text.replace(/:("[^"]*"|\d+)/, `:${random.pick(LITERALS)}`);
    case 1:
      return text.replace("{", () => {
        const member = JSON.stringify(random.pick(["id", "method", "params", "jsonrpc"]));
        return `{${member}:${random.pick(['"x"', "7", "null", "{}"])},`;
      });
    case 2: {
      const depth = random.pick([60, 120, 129, 3000]);
      return text.replace(/:("[^"]*"|\d+)/, `:${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
    }
    default: {
      const before = text.slice(0, random.below(text.length));
      const between = random.pick(["\u00a0", "\ufeff", "\\", '"', "é", "\t", "/* */", ","]);
      return before + between + text.slice(random.below(text.length));
    }
  }
}

/** Damages the bytes: truncates them, duplicates a part, changes one, adds many before or after. */
function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length);
  switch (random.below(5)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes, bytes.subarray(at)]);
    case 2:
      return Buffer.concat([Buffer.from("[".repeat(random.below(9000))), bytes]);
    case 3:
      return Buffer.concat([bytes, Buffer.alloc(random.below(20_000), 0x20)]);
    default: {
      const copy = Buffer.from(bytes);
      copy[at] = random.below(256);
      return copy;
    }
  }
}

function envelopeOf(era: Era): JsonObject {
  return era === "legacy"
    ? {}
    : {
        [META.protocolVersion]: "2026-07-28",
        [META.clientCapabilities]: {},
        [META.clientInfo]: { name: "f", version: "1" },
      };
}

function makeMessage(era: Era, sample: Sample, id: number, random: Random): unknown {
  // Ids that mutations do not use.
  const given = random.pick<unknown>([id, `s${id}`]);
  const message = {
    jsonrpc: "2.0",
    id: given,
    method: sample.method,
    params: { ...sample.params, _meta: { ...envelopeOf(era), progressToken: id } },
  };
  const kind = random.below(12);
  if (kind === 0)
    return {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "never given", ...(era === "modern" && { _meta: envelopeOf(era) }) },
    };
  if (kind === 1) return { jsonrpc: "2.0", id: `never asked ${id}`, result: random.pick(VALUES) };
  return random.below(4) === 0 ? message : mutate(message, random);
}

/** Returns the case with a number; equal seeds give equal cases. `id` must be new on the connection. */
export function makeCase(era: Era, id: number, random: Random): FuzzCase {
  const sample = random.pick(SAMPLES[era]);
  const isBatch = random.below(era === "legacy" ? 8 : 60) === 0;
  const length = isBatch ? random.pick([0, 1, 2, 5, 101]) : 1;
  const messages = Array.from({ length }, (_, at) =>
    makeMessage(era, at === 0 ? sample : random.pick(SAMPLES[era]), id + at / 128, random),
  );
  let text = JSON.stringify(isBatch ? messages : messages[0]) ?? "null";
  if (random.below(4) === 0) text = mutateText(text, random);
  const bytes = Buffer.from(text);
  return { era, sample, bytes: random.below(4) === 0 && bytes.length > 0 ? mutateBytes(bytes, random) : bytes };
}

/** Splits bytes at random positions, also within characters. */
export function cut(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + random.below(random.pick([8, 200, 20_000])));
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}
