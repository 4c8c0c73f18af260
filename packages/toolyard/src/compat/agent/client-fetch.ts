import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject, listMember, objectMember } from "../../core/json/json.ts";
import { toSnake } from "../option-keys.ts";

/** Vendor of a client: an official client, or one with the same method. */
export type ClientVendor = "openai" | "anthropic" | "mistral";

type ModelRequestSender = (body: JsonObject, options?: JsonObject) => unknown;

/**
 * Detects the vendor by the client's methods, because a bundler may rename classes and a program may have its own
 * client.
 */
export function clientVendor(client: object): ClientVendor | undefined {
  return (["anthropic", "openai", "mistral"] as const).find((vendor) => methodOf(client, vendor) !== undefined);
}

/**
 * Passes the AI SDK's requests to the method of the program's client, so that its key, address, `fetch` and other
 * options apply.
 */
export function clientFetch(client: object, vendor: ClientVendor): typeof fetch {
  const ask = methodOf(client, vendor)!;
  const { toRequest, toReply } = DIALECTS[vendor];
  return async (_url, init) => {
    // The client converts the body with `JSON.stringify`, which rejects a BigInt.
    const body = JSON.parse(String(init?.body)) as JsonObject;
    try {
      const options = { ...(init?.signal && { signal: init.signal }), ...OPTIONS[vendor] };
      const reply: unknown = await orAbort(ask(toRequest(body), options), init?.signal);
      const answer = toReply(isJsonObject(reply) ? plain(reply) : {}, String(body["model"]));
      return new Response(stringifyExact(answer), { headers: { "content-type": "application/json" } });
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) return refusal;
      throw error;
    }
  };
}

function methodOf(client: object, vendor: ClientVendor): ModelRequestSender | undefined {
  const [last, ...path] = METHODS[vendor].toReversed();
  let owner: unknown = client;
  for (const name of path.toReversed()) owner = memberOf(owner, name);
  const method = memberOf(owner, last!);
  return typeof method === "function" ? ((method as ModelRequestSender).bind(owner) as ModelRequestSender) : undefined;
}

function memberOf(owner: unknown, name: string): unknown {
  return (typeof owner === "object" || typeof owner === "function") && owner !== null
    ? (owner as Record<string, unknown>)[name]
    : undefined;
}

/** Request options by vendor. Anthropic's client requires a stream for long answers unless a timeout is set. */
const OPTIONS: Readonly<Record<ClientVendor, JsonObject>> = {
  anthropic: { timeout: 3_600_000 },
  openai: {},
  mistral: {},
};

const METHODS: Readonly<Record<ClientVendor, readonly string[]>> = {
  anthropic: ["messages", "create"],
  openai: ["chat", "completions", "create"],
  mistral: ["chat", "complete"],
};

// Rejects when `signal` aborts, because a client may ignore the signal.
async function orAbort(work: unknown, signal: AbortSignal | null | undefined): Promise<unknown> {
  if (!signal) return work;
  signal.throwIfAborted();
  return Promise.race([
    work,
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
  ]);
}

/** Converts instances of client classes to their JSON form. */
function plain(reply: JsonObject): JsonObject {
  return parseExact(stringifyExact(reply)) as JsonObject;
}

/** Returns the vendor's error response that a client's error contains, or `undefined` for another error. */
function refusalOf(error: unknown): Response | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, statusCode = status } = error as { readonly status?: unknown; readonly statusCode?: unknown };
  if (typeof statusCode !== "number" || statusCode < 400 || statusCode > 599) return undefined;
  const { message } = error;
  const body = { object: "error", type: "error", message, error: { type: "error", message }, code: null, param: null };
  return Response.json(body, { status: statusCode });
}

interface ModelDialect {
  toRequest(body: JsonObject): JsonObject;
  toReply(reply: JsonObject, model: string): JsonObject;
}

const DIALECTS: Readonly<Record<ClientVendor, ModelDialect>> = {
  openai: { toRequest: (body) => body, toReply: completion },
  anthropic: { toRequest: (body) => body, toReply: message },
  // The Mistral client has camelCase names for the members of the wire format.
  mistral: {
    toRequest: (body) => respelt({ ...body, messages: listMember(body, "messages").map(asText) }, toCamel),
    toReply: (reply, model) => completion(respelt(reply, toSnake), model),
  },
};

/** Converts a list with one text part to a plain text, the form of a question in the specified interface. */
function asText(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const [part, ...rest] = listMember(message, "content");
  const isText = isJsonObject(part) && part["type"] === "text" && rest.length === 0;
  return isText ? { ...message, content: part["text"] } : message;
}

/** Adds members that a custom client may omit. */
function completion(reply: JsonObject, model: string): JsonObject {
  const choices = listMember(reply, "choices");
  return {
    id: "completion",
    created: 0,
    model,
    object: "chat.completion",
    ...reply,
    choices: choices.map((choice, index) => ({
      index,
      finish_reason: null,
      ...(isJsonObject(choice) ? { ...choice, message: assistant(objectMember(choice, "message") ?? {}) } : {}),
    })),
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, ...objectMember(reply, "usage") },
  };
}

function assistant(message: JsonObject): JsonObject {
  const { content = "", tool_calls: _, ...rest } = message;
  const toolCalls = listMember(message, "tool_calls")
    .filter(isJsonObject)
    .map((call, at) => {
      const { name, arguments: given } = objectMember(call, "function") ?? {};
      const args = typeof given === "string" ? given : stringifyExact(given ?? {});
      return { id: `call${at}`, ...call, type: "function", function: { name, arguments: args } };
    });
  return { role: "assistant", ...rest, content, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) };
}

function message(reply: JsonObject, model: string): JsonObject {
  return {
    id: "message",
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...reply,
    usage: { input_tokens: 0, output_tokens: 0, ...objectMember(reply, "usage") },
  };
}

/** Members whose content belongs to the program, so their keys are not converted. */
const OPAQUE: ReadonlySet<string> = new Set(["parameters", "arguments", "schema", "schema_definition"]);

function respelt(value: JsonObject, spell: (key: string) => string): JsonObject {
  const inside = (one: unknown): unknown =>
    Array.isArray(one) ? one.map(inside) : isJsonObject(one) ? respelt(one, spell) : one;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [spell(key), OPAQUE.has(toSnake(key)) ? member : inside(member)]),
  );
}

function toCamel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
