import { setTimeout as delay } from "node:timers/promises";
import { abortSignalOf, type Cancellation } from "../../../core/calls/cancellation.ts";
import { FailError } from "../../../core/errors.ts";
import type { Caller } from "../../../core/fairness/shares.ts";
import { atTurnEnd } from "../../../core/timing/turn-end.ts";
import { isJsonObject } from "../../../core/json/json.ts";
import { claimsJsonRpc, classifyMessage, hasMethod, type RequestId } from "../../../wire/messages.ts";
import { discard, readRefusal } from "../../../outbound/client/body.ts";
import type { HttpResponse } from "../../../outbound/client/sender.ts";
import type { SseEvent } from "../../../wire/sse.ts";
import { readEvents } from "./events.ts";
import { httpFailure } from "../../../outbound/client/server-failures.ts";
import { toStatusFailure } from "./status-failure.ts";
import { EVENT_STREAM_TYPE, mediaType, type HttpConnection } from "./http-connection.ts";
import { reopenDelay } from "./reopen.ts";
import type { ResponseBody } from "../../../outbound/client/response-body.ts";

export interface ResponseStreamOptions {
  readonly idleMs: number;
  /** The caller whose share of the connections is used, also when the stream is opened again. */
  readonly caller?: Caller | undefined;
  /** Present if a broken stream may be resumed. */
  readonly resuming?: StreamResumption | undefined;
  /** Returns the failure if the message reports a lost session. Returns undefined for any other message. */
  lossIn?(data: string): FailError | undefined;
}

/** Functions for resuming a stream in a session. */
export interface StreamResumption {
  headers(): Readonly<Record<string, string>>;
  /** Handles a refusal to resume. Returns the failure if the session is lost. */
  refused(status: number, body: string): FailError | undefined;
}

/** Maximum number of consecutive failed attempts to resume one stream. */
const MAX_RESUME_FAILURES = 4;
/** Maximum time for which a stream stays open after the answer. */
const LINGER_MS = 2000;

/**
 * Returns whether a message, or one of a batch, answers the request. An error without an id also answers it, because
 * the error arrived in the request's own response.
 */
export function answers(value: unknown, id: RequestId): boolean {
  if (Array.isArray(value)) return value.some((one) => answers(one, id));
  const classified = classifyMessage(value);
  if (classified.type === "reply")
    return classified.message.id === null || String(classified.message.id) === String(id);
  // A reply that violates JSON-RPC counts as an answer. `Exchange` then fails the request.
  return classified.type === "invalid" && isJsonObject(value) && claimsJsonRpc(value) && !hasMethod(value);
}

/**
 * The stream that answers one request. If it ends before the answer and the server numbered its events, it is opened
 * again after the last event. A server of 2025-11-25 uses this to let a long call wait without a connection.
 */
export class ResponseStream {
  readonly #connection: HttpConnection;
  readonly #id: RequestId;
  readonly #options: ResponseStreamOptions;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #isAnswered = false;

  constructor(connection: HttpConnection, id: RequestId, options: ResponseStreamOptions) {
    this.#connection = connection;
    this.#id = id;
    this.#options = options;
  }

  /** Resolves once the answer was passed on. Rejects with a `FailError` if it can no longer arrive. */
  async read(first: ResponseBody, signal: Cancellation): Promise<void> {
    let body: ResponseBody | undefined = first;
    let failures = 0;
    while (!this.#isAnswered) {
      const lastSeen = this.#lastEventId;
      const failure = body ? await this.#drain(body, signal) : this.#brokenOff();
      if (!failure) return;
      if (signal.aborted || !this.#mayGoOn(failure)) throw failure;
      failures = body && this.#lastEventId !== lastSeen ? 1 : failures + 1;
      if (failures > MAX_RESUME_FAILURES && !body) throw failure;
      await delay(reopenDelay(failures, this.#connection.options.reopenDelayMs, this.#retryMs), undefined, {
        signal: abortSignalOf(signal),
      }).catch(() => {});
      body = await this.#resume(signal);
    }
  }

  /** Returns whether the stream can be resumed after this failure. */
  #mayGoOn({ failure: { kind, details } }: FailError): boolean {
    const isFinal = kind === "too_large" || details?.["sessionLost"] === true;
    return !isFinal && this.#lastEventId !== undefined && this.#options.resuming !== undefined;
  }

  /**
   * Reads until the answer or the end, and returns the failure if there is one. Messages after the answer are read too.
   */
  #drain(body: ResponseBody, signal: Cancellation): Promise<FailError | undefined> {
    const { client, maxMessageBytes } = this.#connection.options;
    const bounds = { place: client.place, maxBytes: maxMessageBytes, signal };
    return new Promise((resolve, reject) => {
      readEvents(body, bounds, {
        onRetry: (ms) => {
          this.#retryMs = ms;
        },
        onEvent: (event) => {
          if (!this.#takes(event)) return;
          // The wait starts after this turn of the event loop, because the end of the stream usually arrives together
          // with the answer.
          atTurnEnd(() => linger(body));
          resolve(undefined);
        },
        onEnd: (error) => {
          // `resolve` is not called again, because a second call has no effect but is expensive.
          if (this.#isAnswered) return;
          if (error === undefined || error instanceof FailError) resolve(error ?? this.#brokenOff());
          else reject(error);
        },
      });
    });
  }

  /** Passes an event on, and returns whether it is the answer. */
  #takes(event: SseEvent): boolean {
    if (event.id !== undefined) this.#lastEventId = event.id;
    if (event.event === "endpoint") throw this.#otherTransport();
    if (event.data === "" || event.event !== "message") return false;
    const lost = event.data.includes('"error"') ? this.#options.lossIn?.(event.data) : undefined;
    if (lost) throw lost;
    if (!answers(this.#connection.receive(event.data, this.#id), this.#id)) return false;
    this.#isAnswered = true;
    return true;
  }

  async #resume(signal: Cancellation): Promise<ResponseBody | undefined> {
    const { client } = this.#connection.options;
    const { resuming, idleMs, caller } = this.#options;
    const headers = { ...resuming?.headers(), accept: EVENT_STREAM_TYPE, "last-event-id": this.#lastEventId ?? "" };
    let response;
    try {
      response = await client.request({ method: "GET", headers, signal, idleMs, caller });
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
    if (response.status === 200) {
      if (mediaType(response.header("content-type")) === EVENT_STREAM_TYPE) return response.body;
      discard(response.body);
      throw this.#notResumed(response, "");
    }
    const text = await readRefusal(response.body, client.place, signal);
    if (response.status === 429 || response.status >= 500) return undefined;
    throw this.#notResumed(response, text);
  }

  // The failure is not marked as unsent, because the server had already accepted the request.
  #notResumed(response: HttpResponse, text: string): FailError {
    const { place } = this.#connection.options.client;
    return this.#options.resuming?.refused(response.status, text) ?? withoutUnsent(toStatusFailure(response, place));
  }

  // Returns the failure for an event of HTTP+SSE, because some servers of 2024-11-05 open their only stream for a POST
  // too.
  #otherTransport(): FailError {
    const what = 'speaks HTTP+SSE of 2024-11-05 at this address. Set `transport` to "sse" or "auto".';
    return httpFailure(
      "unavailable",
      { place: this.#connection.options.client.place, what },
      {
        details: { status: 405, sent: false },
        retryable: false,
      },
    );
  }

  #brokenOff(): FailError {
    return httpFailure("unavailable", {
      place: this.#connection.options.client.place,
      what: "ended its response stream before the answer.",
    });
  }
}

function withoutUnsent({ failure }: FailError): FailError {
  const { sent: _, ...details } = failure.details ?? {};
  return new FailError({ ...failure, details });
}

// Closes a response that does not end soon after its answer, so that its connection can be used again.
function linger(body: ResponseBody): void {
  if (body.isOver) return;
  const timer = setTimeout(() => body.destroy(), LINGER_MS);
  timer.unref();
  body.onceOver(() => clearTimeout(timer));
}
