import { setTimeout as delay } from "node:timers/promises";
import type { Call } from "./call.ts";
import { FailError } from "../errors.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../json/json.ts";
import { fail, type Ok, type Outcome } from "./outcome.ts";
import { askCaller } from "./request-to-caller.ts";

/** Maximum number of times that one call may return a request for input. */
const MAX_ROUNDS = 16;
/** Maximum number of server requests in one round. */
const MAX_QUESTIONS = 32;
/** Pause in milliseconds before the call is repeated, if a result `input_required` contains no server request. */
const PAUSE_MS = 250;

/** Makes the call, with additional members of `params` from the last round. */
export type Attempt = (extra: JsonObject) => Promise<Outcome>;

/**
 * Runs a call whose result may be `input_required`. A caller that relays input gets such a result unchanged. For any
 * other caller, the hub sends its server requests concurrently and repeats the call with the answers, at most
 * `MAX_ROUNDS` times.
 */
export async function withInput(call: Call, attempt: Attempt): Promise<Outcome> {
  const outcome = await attempt({});
  return isAsking(outcome, call) ? withAnswers(outcome, call, attempt) : outcome;
}

/** Returns true if the outcome requires answers of the caller, and the hub must request them. */
export function isAsking(outcome: Outcome, call: Call): outcome is Ok {
  return outcome.ok && outcome.result["resultType"] === "input_required" && !call.relaysInput;
}

/** Runs the rounds of `withInput` after the first attempt returned server requests. */
export async function withAnswers(asking: Ok, call: Call, attempt: Attempt): Promise<Outcome> {
  let last = asking;
  for (let round = 1; round < MAX_ROUNDS; round += 1) {
    const outcome = await attempt(await answersTo(last.result, call));
    if (!isAsking(outcome, call)) return outcome;
    last = outcome;
  }
  return fail("malformed", `The server requested input ${MAX_ROUNDS} times in one call. The call was cancelled.`);
}

async function answersTo(result: JsonObject, call: Call): Promise<JsonObject> {
  const requestState = stringMember(result, "requestState");
  const state = requestState === undefined ? {} : { requestState };
  const questions = Object.entries(objectMember(result, "inputRequests") ?? {});
  if (questions.length === 0 && requestState === undefined) {
    throw new FailError(fail("malformed", "The server requires input without a request for it."));
  }
  if (questions.length > MAX_QUESTIONS)
    throw new FailError(
      fail(
        "malformed",
        `The server sent ${questions.length} concurrent server requests; ${MAX_QUESTIONS} are allowed.`,
      ),
    );
  if (questions.length === 0) {
    await delay(PAUSE_MS, undefined, { signal: call.signal }).catch(() => {});
    return state;
  }
  const answers = await Promise.all(
    questions.map(async ([key, question]) => [key, await ask(call, question)] as const),
  );
  return { inputResponses: Object.fromEntries(answers), ...state };
}

async function ask(call: Call, question: unknown): Promise<JsonObject> {
  const method = isJsonObject(question) ? stringMember(question, "method") : undefined;
  if (method === undefined || !isJsonObject(question))
    throw new FailError(fail("malformed", "The server sent a server request without a method."));
  return askCaller(call, { method, params: objectMember(question, "params") ?? {} });
}
