import { stringifyExact } from "../../core/json/exact-json.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import { stringifyValue } from "../../core/json/json-text.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import type { EventStream } from "../../http/answer/event-stream.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { assertJsonContent } from "../../http/request/json-content.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { isEmptyParams } from "../../wire/messages.ts";
import { sendFailure, sendValue, wantsStream } from "./answer.ts";
import { errorBody } from "./failures.ts";

/** Maximum time until the first output to a caller that accepts events: proxies time out if they receive no headers. */
const FIRST_SIGN_MS = 1000;

/**
 * One request and its response: JSON, or server-sent events if the caller lists them in `Accept`. A failure before the
 * first event is a plain response with its status.
 */
export class RestExchange {
  readonly http: HttpExchange;
  readonly takesEvents: boolean;
  readonly #ended = new AbortController();
  readonly #firstOutput: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;
  #isAnswered = false;
  #isGivenUp = false;

  constructor(http: HttpExchange) {
    this.http = http;
    this.takesEvents = wantsStream(http);
    http.answer.onClosed(() => {
      clearTimeout(this.#firstOutput);
      if (!this.#isAnswered) this.#ended.abort(new Error("The caller closed the connection."));
    });
    if (this.takesEvents) this.#firstOutput = setTimeout(() => this.#open(), FIRST_SIGN_MS).unref();
  }

  get answer(): HttpAnswer {
    return this.http.answer;
  }

  /** Aborted when the caller disconnects before the response, or when the endpoint cancels. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** True if the endpoint cancelled the request while the caller is still connected. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  giveUp(): void {
    if (this.#isAnswered) return;
    this.#isGivenUp = true;
    this.#ended.abort(new Error("The hub is closing."));
  }

  /** Reads the body as a JSON object. An absent body, `null` and `[]` count as `{}`. Rejects with a `Refusal`. */
  async readObject(what: string): Promise<JsonObject> {
    const body = await this.http.readBody();
    if (body.length === 0) return {};
    assertJsonContent(this.http);
    const parsed = this.http.parseJson(body);
    if (!parsed.ok) throw new Refusal(400, `The request body ${parsed.words}.`);
    if (isJsonObject(parsed.value)) return parsed.value;
    if (isEmptyParams(parsed.value)) return {};
    throw new Refusal(400, `The request body must be a JSON object with ${what}, such as {"name": "value"}.`);
  }

  /** Sends progress and log messages to callers that accept events. */
  notify({ method, params }: CallNotification): void {
    const { progressToken: _, ...rest } = params;
    this.event(method === "notifications/progress" ? "progress" : "log", rest);
  }

  event(name: string, data: JsonObject): void {
    if (this.takesEvents && !this.#isAnswered) this.#open()?.send(stringifyExact(data), { event: name });
  }

  /** Sends the result and ends the answer. `event`: name of the last event. */
  succeed(value: unknown, event = "result"): void {
    if (!this.takesEvents) return this.#answer(() => sendValue(this.answer, value));
    this.#answer(() => this.#end(event, value));
  }

  fail(failure: Fail, isFull = false): void {
    this.#answer(() => {
      if (this.#stream) this.#end("error", errorBody(failure, isFull));
      else sendFailure(this.answer, failure, isFull);
    });
  }

  #answer(send: () => void): void {
    if (this.#isAnswered) return;
    clearTimeout(this.#firstOutput);
    send();
    this.#isAnswered = true;
  }

  #end(event: string, data: unknown): void {
    const stream = this.#open();
    stream?.send(stringifyValue(data), { event });
    stream?.end();
  }

  #open(): EventStream | undefined {
    clearTimeout(this.#firstOutput);
    if (!this.#stream && this.answer.isOpen)
      this.#stream = this.http.openStream({ "x-content-type-options": "nosniff" });
    return this.#stream;
  }
}
