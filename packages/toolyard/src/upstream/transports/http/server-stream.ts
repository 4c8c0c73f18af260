import { setTimeout as delay } from "node:timers/promises";
import { abortSignalOf, type Cancellation } from "../../../core/calls/cancellation.ts";
import { FailError } from "../../../core/errors.ts";
import { discard, readRefusal } from "../../../outbound/client/body.ts";
import { readEvents } from "./events.ts";
import type { HttpResponse } from "../../../outbound/client/sender.ts";
import { EVENT_STREAM_TYPE, mediaType, type HttpConnection } from "./http-connection.ts";
import { reopenDelay } from "./reopen.ts";

export interface ServerStreamOwner {
  /** Returns the headers that identify the session. */
  headers(): Record<string, string>;
  /** Returns whether this refusal means that the session is lost. */
  isSessionLost(status: number, body: string): boolean;
  onSessionLost(status: number): void;
  /** Number of the server's answers since the session started. */
  readonly answers: number;
}

/** Number of consecutive refused connections after which the server counts as unreachable. */
const MAX_UNREACHABLE = 4;
/** Duration in milliseconds after which a stream resets the pause. */
const GOOD_STREAM_MS = 5000;

/**
 * Statuses of refusals after which another attempt may succeed. For example, a server answers 409 while it still holds
 * the lost stream.
 */
const MAY_PASS: ReadonlySet<number> = new Set([408, 409, 425, 429]);

type ServerStreamEnd =
  /** The server offers no stream for its own messages. Calls work without it. */
  | { readonly type: "unsupported" }
  | { readonly type: "session-lost"; readonly status: number }
  | { readonly type: "unreachable"; readonly failure: FailError }
  | { readonly type: "ended" };

/**
 * The GET stream of a legacy connection, on which the server sends its own messages. It is opened again as long as the
 * connection lasts: after the last received event (`Last-Event-ID`) and after the pause that the server names
 * (`retry`).
 */
export class ServerStream {
  readonly #connection: HttpConnection;
  readonly #owner: ServerStreamOwner;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #wasOpen = false;
  readonly #answersAtStart: number;

  constructor(connection: HttpConnection, owner: ServerStreamOwner) {
    this.#connection = connection;
    this.#owner = owner;
    this.#answersAtStart = owner.answers;
  }

  /** Runs until the connection ends, or until the server reports that it offers no such stream. Never rejects. */
  async run(): Promise<void> {
    const { signal, done } = this.#connection.begin();
    let failures = 0;
    let unreachable = 0;
    try {
      while (!signal.aborted) {
        const openedAt = performance.now();
        const ending = await this.#once(signal);
        if (signal.aborted || ending.type === "unsupported") return;
        if (ending.type === "session-lost") return this.#owner.onSessionLost(ending.status);
        unreachable = ending.type === "unreachable" ? unreachable + 1 : 0;
        if (ending.type === "unreachable" && unreachable >= MAX_UNREACHABLE)
          return this.#connection.fail(ending.failure);
        failures = performance.now() - openedAt >= GOOD_STREAM_MS ? 0 : failures + 1;
        await delay(reopenDelay(failures, this.#connection.options.reopenDelayMs, this.#retryMs), undefined, {
          signal: abortSignalOf(signal),
          ref: false,
        }).catch(() => {});
      }
    } finally {
      done();
    }
  }

  async #once(signal: Cancellation): Promise<ServerStreamEnd> {
    const { client, caller } = this.#connection.options;
    const lastEventId = this.#lastEventId === undefined ? {} : { "last-event-id": this.#lastEventId };
    try {
      const headers = { ...this.#owner.headers(), accept: EVENT_STREAM_TYPE, ...lastEventId };
      const response = await client.request({ method: "GET", headers, signal, idleMs: 0, caller });
      if (response.status !== 200) return await this.#onRefusal(response, signal);
      if (mediaType(response.header("content-type")) !== EVENT_STREAM_TYPE) {
        discard(response.body);
        return { type: "unsupported" };
      }
      await this.#read(response, signal);
      return { type: "ended" };
    } catch (error) {
      const isUnreachable =
        error instanceof FailError && error.failure.kind === "unavailable" && error.failure.details?.["sent"] === false;
      return isUnreachable ? { type: "unreachable", failure: error } : { type: "ended" };
    }
  }

  async #onRefusal(response: HttpResponse, signal: Cancellation): Promise<ServerStreamEnd> {
    const { status } = response;
    const body = await readRefusal(response.body, this.#connection.options.client.place, signal);
    if (this.#owner.isSessionLost(status, body)) return { type: "session-lost", status };
    return MAY_PASS.has(status) || status >= 500 ? { type: "ended" } : { type: "unsupported" };
  }

  #read(response: HttpResponse, signal: Cancellation): Promise<void> {
    const { client, maxMessageBytes } = this.#connection.options;
    // If the server may have sent notifications while no stream was open, the lists are read again, because those
    // notifications are lost.
    if (this.#wasOpen || this.#owner.answers > this.#answersAtStart) this.#connection.handlers.onResumed?.();
    this.#wasOpen = true;
    const bounds = { place: client.place, maxBytes: maxMessageBytes, signal };
    return new Promise((resolve, reject) => {
      readEvents(response.body, bounds, {
        onRetry: (ms) => {
          this.#retryMs = ms;
        },
        onEvent: (event) => {
          if (event.id !== undefined) this.#lastEventId = event.id;
          if (event.data !== "" && event.event === "message") this.#connection.receive(event.data);
        },
        onEnd: (error) => (error === undefined ? resolve() : reject(error)),
      });
    });
  }
}
