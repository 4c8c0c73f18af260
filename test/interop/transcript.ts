// Plays the same requests to a server directly and through the hub, and keeps the results of each: the answer, server
// requests and notifications. Whatever is taken out before the two are compared is taken out here, by name and with its
// reason.
import { isJsonObject, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ServerRequestSeen, RawClient } from "../fixtures/raw/raw-client.ts";

export interface Step {
  readonly title: string;
  readonly method: string;
  readonly params?: JsonObject;
  /** Notifications that come outside of the answer; the step lasts until each has come. */
  readonly until?: readonly string[];
  /** True if the call is cancelled after its first progress; there is no answer then. */
  readonly givenUp?: boolean;
  /**
   * Reason for which the hub answers itself, so that only the kind of answer can be compared. `arguments`: they do not
   * match the tool's schema, and the hub checks before it calls. `name`: no source offers that name, which the hub
   * knows without a request. The SDK's servers answer with a result, the specification with an error. `list`: the
   * server offers no such list. The hub has every list, and this one is empty.
   */
  readonly refusal?: "arguments" | "name" | "list";
}

export interface PlayedStep {
  readonly reply: unknown;
  readonly asked: readonly ServerRequestSeen[];
  /** Notifications by method, in the order in which they came: those of different streams have no order among them. */
  readonly told: Readonly<Record<string, readonly unknown[]>>;
}

/** Texts of one run that cannot be the same in another, as `[what, what is put in its place]`. */
export type Replacements = readonly (readonly [string | RegExp, string])[];

/** Plays one step and returns the values to compare. */
export async function play(client: RawClient, step: Step, replacements: Replacements): Promise<PlayedStep> {
  const since = client.received.length;
  const asked = client.asked.length;
  const awaited = (step.until ?? []).map((method) => client.next(method, (message) => !isStartNoise(message)));
  const reply =
    step.givenUp === true
      ? await giveUp(client, step)
      : comparable(await client.request(step.method, step.params), step);
  await Promise.all(awaited);
  const told: Record<string, unknown[]> = {};
  for (const message of client.received.slice(since)) {
    if (!("method" in message) || message["id"] !== undefined || isStartNoise(message) || isLateProgress(message, step))
      continue;
    const heard = (told[String(message["method"])] ??= []);
    // Notifications between the cancellation and its arrival at the server depend on speed.
    if (step.givenUp !== true || heard.length === 0) heard.push(toldAs(message));
  }
  return normalise({ reply, asked: client.asked.slice(asked), told }, replacements);
}

/** Returns the server's capabilities and instructions, without its name, which through the hub is the hub's. */
export function openingOf({ opening }: RawClient, replacements: Replacements): unknown {
  const { capabilities, instructions, protocolVersion } = opening;
  // Ignores tasks: the hub offers none yet.
  const { tasks: _tasks, ...offered } = capabilities as JsonObject;
  return normalise(
    { protocolVersion, instructions, offered: Object.fromEntries(Object.entries(offered).toSorted()) },
    replacements,
  );
}

async function giveUp(client: RawClient, { method, params }: Step): Promise<string> {
  const end = new AbortController();
  const started = client.next("notifications/progress");
  const running = client.request(method, params, { signal: end.signal });
  await started;
  end.abort();
  return running.then(
    () => "answered",
    (error: unknown) => String(error),
  );
}

// A shared server starts before its client connects, so that client does not receive its first messages.
function isStartNoise(message: JsonObject): boolean {
  const data = objectMember(message, "params")?.["data"];
  return message["method"] === "notifications/message" && typeof data === "string" && data.startsWith("Roots updated");
}

// server-everything continues after a cancellation and reports it. A direct client receives that; the hub ends it.
function isLateProgress({ method, params }: JsonObject, step: Step): boolean {
  if (method !== "notifications/progress") return false;
  const wanted = step.params && objectMember(step.params, "_meta")?.["progressToken"];
  return wanted === undefined || !isJsonObject(params) || params["progressToken"] !== wanted;
}

function toldAs({ method, params }: JsonObject): unknown {
  const data = isJsonObject(params) ? params["data"] : undefined;
  // server-everything rolls dice for the level of its simulated log.
  if (method === "notifications/message" && typeof data === "string" && /^\w+[- ]level[- ]message/i.test(data))
    return "a message of a random level";
  return params;
}

function comparable(reply: JsonObject, { method, refusal }: Step): unknown {
  const { result, error } = reply;
  if (refusal === "list" && isJsonObject(result))
    return JSON.stringify(Object.values(result)) === "[[]]" ? "refused" : reply;
  if (refusal !== undefined)
    return error !== undefined || (isJsonObject(result) && result["isError"] === true) ? "refused" : reply;
  if (isJsonObject(error)) return { error: errorOf(error, method) };
  return { result: method === "tools/list" ? withoutTaskTools(result) : result };
}

/** The hub offers no tasks yet, so it withholds tools that require one. */
function withoutTaskTools(result: unknown): unknown {
  if (!isJsonObject(result) || !Array.isArray(result["tools"])) return result;
  const tools = (result["tools"] as JsonObject[]).filter(
    (tool) => objectMember(tool, "execution")?.["taskSupport"] !== "required",
  );
  return { ...result, tools };
}

function errorOf(error: JsonObject, method: string): JsonObject {
  // The hub knows its methods and reports an unknown one in its own words.
  return error["code"] === -32601 ? { code: -32601, method } : error;
}

function normalise<T>(value: T, replacements: Replacements): T {
  let text = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "string" ? withoutBlobTime(member) : member,
  );
  for (const [what, instead] of replacements) text = text.replaceAll(what, instead);
  return JSON.parse(text) as T;
}

// server-everything writes the time of day into the blobs that it makes up.
function withoutBlobTime(text: string): string {
  if (!/^[A-Za-z0-9+/]{40,400}={0,2}$/.test(text)) return text;
  const decoded = Buffer.from(text, "base64").toString("utf8");
  return decoded.includes("created at") ? decoded : text;
}
