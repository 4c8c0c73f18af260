import { CallSet } from "../../../core/calls/call-map.ts";
import { Canceller, type Cancellation } from "../../../core/calls/cancellation.ts";
import type { FailError } from "../../../core/errors.ts";
import type { Caller } from "../../../core/fairness/shares.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { partsText } from "../../../wire/json-bounds.ts";
import type { RequestId } from "../../../wire/messages.ts";
import { parseMessage } from "../../../wire/parse-message.ts";
import type { HttpClient } from "../../../outbound/client/http-client.ts";
import { httpFailure } from "../../../outbound/client/server-failures.ts";
import type { TransportHandlers } from "../transport.ts";
import { firstChars } from "../../../core/text/truncate.ts";

export interface HttpConnectionOptions {
  readonly client: HttpClient;
  /** Caller that the connection serves; absent: several callers. */
  readonly caller?: Caller | undefined;
  /** Maximum size of one JSON answer or one server-sent event, in bytes. */
  readonly maxMessageBytes: number;
  /** Maximum number of keys, objects and lists in one JSON answer or one server-sent event. */
  readonly maxMessageParts: number;
  /** Maximum time without data of a response, in milliseconds, if the caller sets no limit. */
  readonly idleMs: number;
  /** First pause before a lost stream is opened again, unless the server names one. It doubles with each failure. */
  readonly reopenDelayMs: number;
}

export const JSON_TYPE = "application/json";
export const EVENT_STREAM_TYPE = "text/event-stream";

/** Returns the media type of a `Content-Type`, without parameters. */
export function mediaType(contentType: string | undefined): string {
  if (contentType === JSON_TYPE || contentType === EVENT_STREAM_TYPE) return contentType;
  return (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** A piece of work that ends with its connection at the latest. */
export interface ConnectionTask {
  readonly signal: Cancellation;
  abort(reason: unknown): void;
  done(): void;
}

/**
 * Common state of the HTTP transports: the handlers, whether the connection is open, and the abort signals of running
 * work.
 */
export class HttpConnection {
  readonly options: HttpConnectionOptions;
  readonly #work = new CallSet<Canceller>();
  #handlers: TransportHandlers | undefined;
  #isOver = false;

  constructor(options: HttpConnectionOptions) {
    this.options = options;
  }

  open(handlers: TransportHandlers): void {
    this.#handlers = handlers;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get handlers(): TransportHandlers {
    if (this.#handlers && !this.#isOver) return this.#handlers;
    throw this.#disconnected({ sent: false });
  }

  /**
   * Returns a signal for one piece of work. It aborts with `parent` and with the connection. Call `done` when the work
   * has ended.
   */
  begin(parent?: Cancellation): ConnectionTask {
    // A canceller belongs to only one request, so it is used directly instead of a new one.
    const controller = parent instanceof Canceller ? parent : new Canceller();
    const release = controller === parent || !parent ? undefined : follow(controller, parent);
    if (this.#isOver) controller.abort(this.#disconnected({ sent: false }));
    this.#work.add(controller);
    const done = (): void => {
      release?.();
      this.#work.delete(controller);
    };
    return { signal: controller, abort: (reason) => controller.abort(reason), done };
  }

  /**
   * Passes a parsed message to the handler, if there is one. Text that is not JSON, or is nested too deep, is reported
   * as noise. Throws a `FailError` if it has too many parts.
   */
  receive(text: string, related?: RequestId): unknown {
    if (this.#isOver) return undefined;
    const parsed = parseMessage(text, { maxJsonDepth: MAX_JSON_DEPTH, maxJsonParts: this.options.maxMessageParts });
    if (!parsed.ok) {
      if (parsed.fault === "parts") throw this.#tooManyParts();
      const message = "The server sent something that is not JSON, or JSON that is nested too deep.";
      this.#handlers?.onNoise?.({ kind: "not-json", message, sample: firstChars(text, MAX_SAMPLE_LENGTH) });
      return undefined;
    }
    const { value } = parsed;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) this.#handlers?.onMessage(one, related);
    return value;
  }

  #tooManyParts(): FailError {
    const { client, maxMessageParts: maxParts } = this.options;
    const size = partsText(maxParts);
    const what = `sent a message of more than ${size}. Ask it for less, or raise \`max_message_parts\`.`;
    return httpFailure("too_large", { place: client.place, what }, { details: { maxParts } });
  }

  /** Ends the connection because of a failure: ends all running work, and notifies the owner once. */
  fail(failure: FailError): void {
    if (this.#isOver) return;
    const handlers = this.#handlers;
    this.#end(failure);
    handlers?.onClose(failure.failure);
  }

  /** Ends all running work without notifications. */
  close(): void {
    if (!this.#isOver) this.#end(this.#disconnected({}));
  }

  #end(reason: FailError): void {
    this.#isOver = true;
    for (const controller of this.#work.values()) controller.abort(reason);
    this.#work.clear();
  }

  #disconnected(details: JsonObject): FailError {
    return httpFailure("unavailable", { place: this.options.client.place, what: "was disconnected." }, { details });
  }
}

/** Aborts `controller` when `parent` is aborted. Returns a function that removes this link. */
function follow(controller: Canceller, parent: Cancellation): () => void {
  const onAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  parent.addEventListener("abort", onAbort, { once: true });
  return () => parent.removeEventListener("abort", onAbort);
}

const MAX_SAMPLE_LENGTH = 200;
/** Maximum nesting of JSON, because later code may recurse once per level. */
const MAX_JSON_DEPTH = 1000;
