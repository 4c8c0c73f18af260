// Requests of a caller with narrow rights on every endpoint. A hub that hides entries must answer like a hub without
// them.
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { RawClient } from "../fixtures/raw/raw-client.ts";
import type { Random } from "../support/random.ts";
import { JSON_HEADERS, rpc, type RawRequest, type Target } from "./attack.ts";

/** One entry of each kind, which is hidden from the caller or does not exist. */
export interface ExistenceTarget {
  readonly tool: string;
  readonly prompt: string;
  readonly uri: string;
  /** Path of a route to `tool`, or of no route. */
  readonly path: string;
}

/** A caller of one hub: its token, and its MCP client of each era. */
export interface Asker {
  readonly target: Target;
  /** Absent: the caller sends no token. */
  readonly token: string | undefined;
  readonly legacy: RawClient;
  readonly modern: RawClient;
}

export async function askerOf(target: Target, token: string): Promise<Asker> {
  const legacy = await target.client(token, { era: "legacy" });
  return { target, token, legacy, modern: await target.client(token, { era: "modern" }) };
}

type Way = (asker: Asker, wanted: ExistenceTarget, args: JsonObject) => Promise<unknown>;

/** Requests that name an entry, by a label for failure messages. */
export const WAYS: Readonly<Record<string, Way>> = {
  ...overMcp("tools/call", ({ tool }, args) => ({ name: tool, arguments: args })),
  ...overMcp("tools/call of execute_tool", ({ tool }, args) => ({
    name: "execute_tool",
    arguments: { name: tool, arguments: args },
  })),
  ...overMcp("tools/call of tool_search", ({ tool }) => ({ name: "tool_search", arguments: { query: tool } })),
  ...overMcp("prompts/get", ({ prompt }, args) => ({ name: prompt, arguments: args })),
  ...overMcp("completion/complete", ({ prompt }) => ({
    ref: { type: "ref/prompt", name: prompt },
    argument: { name: "who", value: "" },
  })),
  ...overMcp("completion/complete of a resource", ({ uri }) => ({
    ref: { type: "ref/resource", uri },
    argument: { name: "path", value: "" },
  })),
  ...overMcp("resources/read", ({ uri }) => ({ uri })),
  "resources/subscribe": ({ legacy }, { uri }) => legacy.request("resources/subscribe", { uri }),
  "resources/unsubscribe": ({ legacy }, { uri }) => legacy.request("resources/unsubscribe", { uri }),
  "JSON-RPC, tools/call": send(({ tool }, args) => ({
    path: "/jsonrpc",
    body: rpc("tools/call", { name: tool, arguments: args }),
  })),
  "JSON-RPC, by method": send(({ tool }, args) => ({ path: "/", body: rpc(tool, args) })),
  "JSON-RPC, resource": send(({ uri }) => ({ path: "/jsonrpc", body: rpc("mcp/resource/get", { uri }) })),
  "JSON-RPC, tool of mcp": send(({ tool }, args) => ({
    path: "/jsonrpc",
    body: rpc("mcp/tool/execute", { name: tool, params: args }),
  })),
  "GET /?uri=": send(({ uri }) => ({ method: "GET", path: `/?uri=${encodeURIComponent(uri)}` })),
  ...overRest("/api/tools/", ({ tool }) => `/api/tools/${encodeURIComponent(tool)}`),
  ...overRest("/api/resources", ({ uri }) => `/api/resources?uri=${encodeURIComponent(uri)}`),
  ...overRest("a separate path", ({ path }) => path),
};

function overMcp(
  name: string,
  paramsOf: (wanted: ExistenceTarget, args: JsonObject) => JsonObject,
): Record<string, Way> {
  const [method = ""] = name.split(" of ");
  return Object.fromEntries(
    (["legacy", "modern"] as const).map((era) => [
      `${name}, ${era}`,
      (asker: Asker, wanted: ExistenceTarget, args: JsonObject) => asker[era].request(method, paramsOf(wanted, args)),
    ]),
  );
}

function overRest(name: string, pathOf: (wanted: ExistenceTarget) => string): Record<string, Way> {
  const plain = ["GET", "HEAD", "DELETE", "OPTIONS"].map((method) => [method, { method }] as const);
  const bodies = [
    ["of arguments", "{}"],
    ["that is no object", "[1]"],
    ["that is no JSON", "{"],
    ["that is empty", ""],
  ] as const;
  const sent = ["POST", "PUT"].flatMap((method) =>
    bodies.map(([what, body]) => [`${method} with a body ${what}`, { method, body }] as const),
  );
  const text = [["POST of a text", { method: "POST", body: "x", headers: { "content-type": "text/plain" } }]] as const;
  return Object.fromEntries(
    [...plain, ...sent, ...text].map(([what, request]) => [
      `${what} at ${name}`,
      send((wanted) => ({ ...request, path: pathOf(wanted) })),
    ]),
  );
}

function send(requestOf: (wanted: ExistenceTarget, args: JsonObject) => RawRequest): Way {
  return async ({ target, token }, wanted, args) => {
    const { headers, ...request } = requestOf(wanted, args);
    const answer = await target.send({
      method: "POST",
      ...request,
      headers: { ...JSON_HEADERS, ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    });
    const { date: _date, "content-length": _length, ...rest } = answer.headers;
    return { status: answer.status, headers: rest, body: answer.body };
  };
}

/** Parts of an answer that always differ between requests or hubs. */
const OF_ITS_OWN = /\\*"(?:id|request_?id|duration_ms)\\*":[^,}]+|127\.0\.0\.1:\d+/gi;

/** Returns the answer without the parts that differ between requests. */
export async function heard(way: Way, asker: Asker, wanted: ExistenceTarget, args: JsonObject): Promise<string> {
  return JSON.stringify(await way(asker, wanted, args)).replaceAll(OF_ITS_OWN, "…");
}

/** Returns arguments for a call of a tool that does not exist. */
export function randomArguments(random: Random): JsonObject {
  return random.pick<JsonObject>([
    {},
    { who: "x" },
    { confirm: true },
    { who: 5, more: ["a", null, { b: 1 }] },
    { who: "x".repeat(1 + random.below(3000)) },
  ]);
}

/** Returns a word of lower-case letters that is no name. */
export function randomWord(random: Random): string {
  return Array.from({ length: 4 + random.below(6) }, () => random.pick(Array.from("abcdefghijklmnopqrstuvwxyz"))).join(
    "",
  );
}
