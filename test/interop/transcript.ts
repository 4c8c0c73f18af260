// Plays the same requests to a server directly and through the hub, and records the results of each: answers, server
// requests and notifications. This file removes everything that is excluded from the comparison, by name and with the
// reason.
import { isJsonObject, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ServerRequestSeen, RawClient } from "../fixtures/raw/raw-client.ts";

export interface Step {
  readonly title: string;
  readonly method: string;
  readonly params?: JsonObject;
  /** Methods of notifications outside of the answer; the step ends after each has arrived. */
  readonly until?: readonly string[];
  /** True if the call is cancelled after its first progress; there is no answer then. */
  readonly givenUp?: boolean;
  /**
   * Reason for which the hub answers itself, so that only the kind of answer is compared. `arguments`: they do not
   * match the tool's schema, which the hub checks before the call. `name`: no source offers the name. The SDK's servers
   * answer with a result, the specification with an error. `list`: the server offers no such list; the hub has every
   * list, and this one is empty.
   */
  readonly refusal?: "arguments" | "name" | "list";
}

export interface PlayedStep {
  readonly reply: unknown;
  readonly asked: readonly ServerRequestSeen[];
  /** Notifications by method, in order of arrival: different streams have no common order. */
  readonly told: Readonly<Record<string, readonly unknown[]>>;
}

/** Texts that differ between runs, as pairs of the text and its replacement. */
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
    // Notifications between the cancellation and its arrival at the server depend on timing.
    if (step.givenUp !== true || heard.length === 0) heard.push(toldAs(message));
  }
  return normalise({ reply, asked: client.asked.slice(asked), told }, replacements);
}

/** Returns the server's capabilities and instructions, without the name, which is the hub's name through the hub. */
export function openingOf({ opening }: RawClient, replacements: Replacements): unknown {
  const { capabilities, instructions, protocolVersion } = opening;
  // Ignores tasks of 2025-11-25, which the hub does not pass through.
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

// server-everything continues after a cancellation and reports it. A direct client receives that; the hub stops it.
function isLateProgress({ method, params }: JsonObject, step: Step): boolean {
  if (method !== "notifications/progress") return false;
  const wanted = step.params && objectMember(step.params, "_meta")?.["progressToken"];
  return wanted === undefined || !isJsonObject(params) || params["progressToken"] !== wanted;
}

function toldAs({ method, params }: JsonObject): unknown {
  const data = isJsonObject(params) ? params["data"] : undefined;
  // server-everything chooses the level of its simulated log at random.
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
  return { result: method === "tools/list" ? withOptionalTasks(result) : result };
}

/** The hub follows a task for a caller without tasks, so no tool requires one at the hub. */
function withOptionalTasks(result: unknown): unknown {
  if (!isJsonObject(result) || !Array.isArray(result["tools"])) return result;
  const tools = (result["tools"] as JsonObject[]).map((tool) => {
    const execution = objectMember(tool, "execution");
    return execution?.["taskSupport"] === "required"
      ? { ...tool, execution: { ...execution, taskSupport: "optional" } }
      : tool;
  });
  return { ...result, tools };
}

function errorOf(error: JsonObject, method: string): JsonObject {
  // The hub knows its methods and reports an unknown one with its own message.
  return error["code"] === -32601 ? { code: -32601, method } : error;
}

function normalise<T>(value: T, replacements: Replacements): T {
  let text = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "string" ? withoutBlobTime(member) : member,
  );
  for (const [what, instead] of replacements) text = text.replaceAll(what, instead);
  return JSON.parse(text) as T;
}

// server-everything writes the time of day into its generated blobs.
function withoutBlobTime(text: string): string {
  if (!/^[A-Za-z0-9+/]{40,400}={0,2}$/.test(text)) return text;
  const decoded = Buffer.from(text, "base64").toString("utf8");
  return decoded.includes("created at") ? decoded : text;
}
