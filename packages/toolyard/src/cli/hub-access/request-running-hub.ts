import { isFailKind } from "../../core/calls/kinds.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { hubAddress } from "./hub-address.ts";
import { askHub, type HubQuestion } from "./query-hub.ts";
import { wantsToken } from "./session.ts";

const ANSWER_WITHIN_MS = 10_000;

export interface RunningHubRequest extends Pick<HubQuestion, "method" | "headers" | "body"> {
  /** Path below the base, with a slash first. */
  readonly path: string;
  /** Base of the path: the hub's address, or REST at the hub. @default "rest" */
  readonly below?: "base" | "rest";
  /** Subject and verb of the error if no hub answers: `Tasks run`. */
  readonly subject: string;
}

/**
 * Sends a request to the running hub of the configuration or of `--url`. Rejects with a `FailError` if the hub returns
 * an error or no JSON object, or does not answer.
 */
export async function requestRunningHub(
  { path, below = "rest", subject, ...request }: RunningHubRequest,
  options: SharedOptions,
  io: Io,
): Promise<JsonObject> {
  const { [below]: base, token } = await hubAddress(options, io);
  const url = new URL(`${base}${path}`);
  const { status, json } = await askRunningHub({ ...request, url, token }, subject, io);
  if (status === 401) throw new FailError(wantsToken(url.origin, token !== undefined));
  if (status < 300 && isJsonObject(json)) return json;
  throw new FailError(
    failureIn(json) ?? fail("malformed", `${url.href} answered HTTP ${status}. Is it a toolyard hub?`),
  );
}

/**
 * Resolves with the answer of a running hub, whatever its status is. Rejects with a `FailError` if no hub answers.
 * `subject`: see `RunningHubRequest`.
 */
export async function askRunningHub(
  question: Omit<HubQuestion, "timeoutMs">,
  subject: string,
  io: Io,
): ReturnType<typeof askHub> {
  try {
    return await askHub({ ...question, timeoutMs: ANSWER_WITHIN_MS }, io);
  } catch (error) {
    if (io.interrupted.aborted || error instanceof FailError) throw error;
    const advice = `${subject} at a running hub: start one with \`toolyard serve\`, or name another with --url.`;
    const { origin } = question.url;
    throw new FailError(fail("unavailable", `No hub answers at ${origin}: ${messageOf(error)}. ${advice}`));
  }
}

/** Returns the failure in an answer: REST names the outcome code, other paths have a message only. */
function failureIn(json: unknown): Fail | undefined {
  const error = isJsonObject(json) ? objectMember(json, "error") : undefined;
  if (!error) return undefined;
  const message = stringMember(error, "message") ?? "The hub gave no reason.";
  const kind = stringMember(error, "kind");
  if (kind !== undefined && isFailKind(kind)) return fail(kind, message);
  return error["message"] === undefined ? undefined : fail("denied", message);
}
