import { stringifyExact } from "../../core/json/exact-json.ts";
import { stringifyValue } from "../../core/json/json-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { errorBody, retryHeaders, statusOf } from "./failures.ts";

/** Nobody between us and the caller may keep an answer, and nobody may take it for something else than JSON. */
const COMMON = ["cache-control", "no-store", "x-content-type-options", "nosniff"] as const;

export function sendValue(answer: HttpAnswer, value: unknown, status = 200): void {
  sendText(answer, stringifyValue(value), { status });
}

export interface RestAnswerHead {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const OK: RestAnswerHead = { status: 200 };

/** `text` is JSON already. */
export function sendText(answer: HttpAnswer, text: string, { status, headers }: RestAnswerHead = OK): void {
  send(answer, text, { status, headers: { "content-type": "application/json", ...headers } });
}

export function sendFailure(answer: HttpAnswer, failure: Fail, isFull = false): void {
  const text = stringifyExact(errorBody(failure, isFull));
  sendText(answer, text, { status: statusOf(failure), headers: retryHeaders(failure) });
}

/** Any body, with the headers that all answers have. Does nothing when the caller has gone. */
export function send(answer: HttpAnswer, body: string | Buffer, { status, headers = {} }: RestAnswerHead): void {
  answer.send(status, [...COMMON, ...Object.entries(headers).flat()], body);
}

/** The media type of a result that is sent as MCP has it. */
const FULL_TYPE = "application/vnd.toolyard.result+json";

/** Whether a caller wants MCP's own result in place of the plain value: `?full=1`, or the media type in `Accept`. */
export function wantsFull(exchange: HttpExchange, query?: URLSearchParams): boolean {
  return isYes(query?.get("full")) || accepts(exchange, FULL_TYPE);
}

/** Only who names it wants a stream. */
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

/** The plain value of a result, or all of it. */
export function shown(result: JsonObject, isFull: boolean, valueOf: (result: JsonObject) => unknown): unknown {
  return isFull ? result : valueOf(result);
}
