// Plays the same requests to a server directly and through the hub, and keeps for each what came back: the answer, what
// was asked meanwhile, and what was told. Whatever is taken out before the two are compared is taken out here, by name
// and with its reason.
import { isJsonObject, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ServerRequestSeen, RawClient } from "../fixtures/raw/raw-client.ts";

export interface Step {
  readonly title: string;
  readonly method: string;
  readonly params?: JsonObject;
  /** Notifications that come outside of the answer; the step lasts until each has come. */
  readonly until?: readonly string[];
  /** Given up as soon as the first progress has come; there is no answer then. */
  readonly givenUp?: boolean;
  /**
   * The hub answers by itself, so only what kind of answer it is can be compared. `arguments`: they do not fit the
   * tool's own schema, and nothing is sent that does not (the hub checks before it calls). `name`: nobody offers that
   * name, which the hub knows without asking. The SDK's servers say it as a result, the specification as an error.
   * `list`: the server offers no such list. The hub has every list, for whatever source brings entries, and this one is
   * empty.
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

/** Plays one step and returns what is to be compared. */
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
    // What comes between giving up and the server's hearing of it is a matter of speed.
    if (step.givenUp !== true || heard.length === 0) heard.push(toldAs(message));
  }
  return normalise({ reply, asked: client.asked.slice(asked), told }, replacements);
}

/** What a server offers itself as: its capabilities and words. Not its name, which through the hub is the hub's. */
export function openingOf({ opening }: RawClient, replacements: Replacements): unknown {
  const { capabilities, instructions, protocolVersion } = opening;
  // Tasks are left aside: the hub offers none of its own yet.
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

// A server that is shared was started before its client came, so what it does as it starts is not told to that client.
function isStartNoise(message: JsonObject): boolean {
  const data = objectMember(message, "params")?.["data"];
  return message["method"] === "notifications/message" && typeof data === "string" && data.startsWith("Roots updated");
}

// server-everything goes on working after a cancellation and tells of it. Directly that reaches the client; the hub
// lets it end there.
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

/** The hub offers no tasks of its own yet, so it withholds the tools that require one. */
function withoutTaskTools(result: unknown): unknown {
  if (!isJsonObject(result) || !Array.isArray(result["tools"])) return result;
  const tools = (result["tools"] as JsonObject[]).filter(
    (tool) => objectMember(tool, "execution")?.["taskSupport"] !== "required",
  );
  return { ...result, tools };
}

function errorOf(error: JsonObject, method: string): JsonObject {
  // The hub knows its methods and says in its own words which it does not know.
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
