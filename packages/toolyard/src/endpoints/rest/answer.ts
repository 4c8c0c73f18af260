import { stringifyExact } from "../../core/json/exact-json.ts";
import { stringifyValue } from "../../core/json/json-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { errorBody, retryHeaders, statusOf } from "./failures.ts";

/**
 * Headers of all responses: intermediaries must not cache a response, and browsers must not guess a type other than
 * JSON.
 */
const COMMON = ["cache-control", "no-store", "x-content-type-options", "nosniff"] as const;

export function sendValue(answer: HttpAnswer, value: unknown, status = 200): void {
  sendText(answer, stringifyValue(value), { status });
}

export interface RestAnswerHead {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const OK: RestAnswerHead = { status: 200 };

/** Sends `text`, which must be JSON. */
export function sendText(answer: HttpAnswer, text: string, { status, headers }: RestAnswerHead = OK): void {
  send(answer, text, { status, headers: { "content-type": "application/json", ...headers } });
}

export function sendFailure(answer: HttpAnswer, failure: Fail, isFull = false): void {
  const text = stringifyExact(errorBody(failure, isFull));
  if (failure.requiredScopes) answer.requireScopes(failure.requiredScopes);
  sendText(answer, text, { status: statusOf(failure), headers: retryHeaders(failure) });
}

/** Sends any body with the common headers. Does nothing if the caller has disconnected. */
export function send(answer: HttpAnswer, body: string | Buffer, { status, headers = {} }: RestAnswerHead): void {
  answer.send(status, [...COMMON, ...Object.entries(headers).flat()], body);
}

/** Media type of a result in the format of MCP. */
const FULL_TYPE = "application/vnd.toolyard.result+json";

/**
 * Returns true if a caller requests MCP's own result instead of the plain value: `?full=1`, or the media type in
 * `Accept`.
 */
export function wantsFull(exchange: HttpExchange, query?: URLSearchParams): boolean {
  return isYes(query?.get("full")) || accepts(exchange, FULL_TYPE);
}

/** Returns true if the caller lists the event stream type in `Accept`; a wildcard does not count. */
export function wantsStream(exchange: HttpExchange): boolean {
  return accepts(exchange, "text/event-stream");
}

export function isYes(word: string | null | undefined): boolean {
  return typeof word === "string" && /^(1|true|yes|)$/i.test(word);
}

function accepts(exchange: HttpExchange, type: string): boolean {
  return (exchange.header("accept") ?? "")
    .split(",")
    .some((one) => one.split(";", 1)[0]!.trim().toLowerCase() === type);
}

/** Returns the plain value of a result, or the whole result if `isFull`. */
export function shown(result: JsonObject, isFull: boolean, valueOf: (result: JsonObject) => unknown): unknown {
  return isFull ? result : valueOf(result);
}
