import { CallMap } from "../../core/calls/call-map.ts";
import { Canceller, type Cancellation } from "../../core/calls/cancellation.ts";
import { FailError } from "../../core/errors.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, objectMember, withMember, type JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { abortFailure, within } from "../../core/timing/wait.ts";
import {
  claimsJsonRpc,
  classifyMessage,
  hasMethod,
  isRequestId,
  rpcError,
  RPC,
  type RequestId,
  type RpcMessage,
  type RpcNotification,
  type RpcReply,
  type RpcRequest,
} from "../../wire/messages.ts";
import { failureOf, type FaultLog } from "../faults.ts";
import type { CloseOptions, SendOptions, Transport } from "../transports/transport.ts";
import { firstChars } from "../../core/text/truncate.ts";

export interface ExchangeHandlers {
  onRequest(request: RpcRequest, related?: RequestId): void;
  onNotification(notification: RpcNotification, related?: RequestId): void;
  onClose(failure: Fail): void;
  onStderr?(line: string): void;
  onResumed?(): void;
}

/**
 * Way in which the server learns that a request is cancelled: by a message, by closing its response stream, or not at
 * all.
 */
export type CancelBy = "message" | "stream" | "nothing";

export interface RequestOptions {
  /** Cancels the request; its reason becomes the failure. */
  readonly signal?: Cancellation | undefined;
  /** Receives progress, which is requested with the hub's own token. Called in order, and never after the answer. */
  readonly onProgress?: (params: JsonObject) => void;
  readonly cancelBy?: CancelBy;
  readonly send?: Pick<SendOptions, "inputSchema" | "longLived" | "caller" | "afterLoss">;
}

/** A sent request. `reply` rejects with a `FailError` if it was cancelled or can no longer be answered. */
export interface SentMessage {
  readonly id: number;
  readonly reply: Promise<RpcReply>;
}

interface PendingExchange {
  readonly onProgress: ((params: JsonObject) => void) | undefined;
  /** The response stream, on a transport with one stream per request. */
  readonly stream: Canceller | undefined;
  resolve(reply: RpcReply): void;
  reject(failure: Fail): void;
  /** Stops listening for the cancellation. */
  release(): void;
}

/** Maximum number of remembered ids of cancelled requests, so that their late answers are not reported as faults. */
const MAX_FORGOTTEN = 1024;

/**
 * Maximum time for which a cancelled request's stream stays open, so that the cancellation message arrives before the
 * stream ends.
 */
const CANCEL_MS = 5000;

/** The id of the last request; shared by consecutive connections if the ids continue. */
export interface RequestIds {
  last: number;
}

interface ExchangeOptions {
  /** Log for faults of the server. */
  readonly faults: FaultLog;
  /** Counter that continues earlier request ids. @default a new counter from 1 */
  readonly ids?: RequestIds | undefined;
}

/**
 * JSON-RPC over one transport: creates unique and increasing ids, and matches answers to requests and progress to
 * calls. Messages are handled in order of arrival, so progress that arrives together with its answer is delivered
 * first.
 */
export class Exchange {
  readonly #transport: Transport;
  readonly #handlers: ExchangeHandlers;
  readonly #faults: FaultLog;
  readonly #pending = new CallMap<RequestId, PendingExchange>();
  readonly #forgotten = new Set<RequestId>();
  readonly #ids: RequestIds;
  /** The last id that was used before the first request of this connection. */
  readonly #before: number;
  #closed: Fail | undefined;
  /** Number of answers that reached their requests. */
  replies = 0;
  /** Time of the last message from the server, on the clock of `performance.now()`. */
  heardAt = performance.now();

  constructor(transport: Transport, handlers: ExchangeHandlers, { faults, ids = { last: 0 } }: ExchangeOptions) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#faults = faults;
    this.#ids = ids;
    this.#before = ids.last;
  }

  async open(signal?: AbortSignal): Promise<void> {
    const { onStderr, onResumed } = this.#handlers;
    await this.#transport.open(
      {
        onMessage: this.#receive,
        onClose: (failure) => this.#end(failure),
        onLost: (id, failure) => this.#take(id)?.reject(failure),
        onNoise: (noise) =>
          this.#faults.report(noise.kind, noise.message, noise.sample === undefined ? {} : { sample: noise.sample }),
        ...(onStderr && { onStderr }),
        ...(onResumed && { onResumed }),
      },
      signal,
    );
  }

  get closed(): Fail | undefined {
    return this.#closed;
  }

  get waiting(): number {
    return this.#pending.size;
  }

  start(method: string, params: JsonObject, options: RequestOptions = {}): SentMessage {
    this.#ids.last += 1;
    const id = this.#ids.last;
    const { onProgress } = options;
    const request: RpcRequest = {
      jsonrpc: "2.0",
      id,
      method,
      params: onProgress ? withProgressToken(params, id) : params,
    };
    return { id, reply: this.#send(request, options) };
  }

  /** Sends a request and returns its `result`. Rejects with a `FailError`; a protocol error is its `rpcError`. */
  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const reply = await this.start(method, params, options).reply;
    if ("result" in reply) return reply.result;
    throw new FailError(
      fail("tool_error", `The server refused \`${method}\`: ${reply.error.message}`, { rpcError: reply.error }),
    );
  }

  /** Sends a notification or a reply. Logs and returns the reason if it could not be delivered. */
  async post(message: RpcMessage, relatedTo?: RequestId): Promise<Fail | undefined> {
    if (this.#closed) return this.#closed;
    try {
      await this.#transport.send(message, relatedTo === undefined ? {} : { relatedTo });
      return undefined;
    } catch (error) {
      const failure = failureOf(error);
      this.#faults.report("undelivered", `A message could not be delivered: ${failure.message}`);
      return failure;
    }
  }

  /**
   * Fails a request that the server cancelled. Returns whether there was such a request. A later answer is dropped.
   */
  withdraw(id: unknown, failure: Fail): boolean {
    if (!isRequestId(id)) return false;
    const own = this.#pending.has(id) ? id : numberOf(id);
    const pending = own === undefined ? undefined : this.#take(own);
    if (own === undefined || !pending) return false;
    this.#forget(own);
    pending.reject(failure);
    pending.stream?.abort(GIVEN_UP);
    return true;
  }

  async close(failure: Fail, options?: CloseOptions): Promise<void> {
    this.#end(failure);
    await this.#transport.close(options);
  }

  #send(
    request: RpcRequest,
    { signal, onProgress, cancelBy = "message", send = {} }: RequestOptions,
  ): Promise<RpcReply> {
    if (this.#closed) return Promise.reject(new FailError(unsent(this.#closed)));
    if (signal?.aborted) return Promise.reject(abortFailure(signal));
    const stream = this.#transport.perRequestStreams ? new Canceller() : undefined;
    return new Promise<RpcReply>((resolve, reject) => {
      const onAbort = (): void => {
        if (!signal || !this.#take(request.id)) return;
        const failure = abortFailure(signal);
        this.#giveUp(request.id, failure.failure, { cancelBy, stream });
        reject(failure);
      };
      this.#pending.set(request.id, {
        onProgress,
        stream,
        resolve,
        reject: (failure) => reject(new FailError(failure)),
        release: () => signal?.removeEventListener("abort", onAbort),
      });
      signal?.addEventListener("abort", onAbort, { once: true });
      const { inputSchema, longLived, caller, afterLoss } = send;
      const delivered = this.#transport.send(request, { inputSchema, longLived, caller, afterLoss, signal: stream });
      delivered.catch((error: unknown) => this.#take(request.id)?.reject(failureOf(error)));
    });
  }

  #giveUp(id: RequestId, failure: Fail, { cancelBy, stream }: WayToCancel): void {
    this.#forget(id);
    if (cancelBy !== "message") return stream?.abort(GIVEN_UP);
    const message: RpcNotification = {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: id, reason: reasonOf(failure) },
    };
    void within(this.post(message), CANCEL_MS, { keepsAlive: false }).then(() => stream?.abort(GIVEN_UP));
  }

  #forget(id: RequestId): void {
    if (this.#forgotten.size >= MAX_FORGOTTEN) this.#forgotten.clear();
    this.#forgotten.add(id);
  }

  #take(id: RequestId): PendingExchange | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.release();
    return pending;
  }

  readonly #receive = (value: unknown, related?: RequestId): void => {
    if (this.#closed) return;
    this.heardAt = performance.now();
    if (Array.isArray(value)) return value.forEach((member) => this.#receive(member, related));
    const classified = classifyMessage(value);
    if (classified.type === "invalid") return this.#onNonsense(value, classified, related);
    if (classified.type === "reply") return this.#onReply(classified.message, related);
    if (classified.type === "request") return this.#handlers.onRequest(classified.message, related);
    this.#onNotification(classified.message, related);
  };

  #onReply(reply: RpcReply, related: RequestId | undefined): void {
    // An error without an id belongs to the request on whose stream it arrived.
    const id = reply.id ?? related;
    const pending = id === undefined ? undefined : (this.#take(id) ?? this.#takeTextId(id));
    if (pending) {
      this.replies += 1;
      return pending.resolve(reply);
    }
    if (id !== undefined && this.#forgotten.delete(id)) return;
    if (id === undefined)
      return this.#faults.report("error-without-id", "The server sent an error that belongs to no request.");
    if (typeof id === "number" && id > this.#before && id <= this.#ids.last) {
      return this.#faults.report("answered-twice", "The server answered a request that had its answer already.", {
        id,
      });
    }
    this.#faults.report("unknown-id", "The server answered a request that was never made.", {
      id: firstChars(String(id), 100),
    });
  }

  // Finds a request whose id the server returned as text instead of a number.
  #takeTextId(id: RequestId): PendingExchange | undefined {
    const own = numberOf(id);
    const pending = own === undefined ? undefined : this.#take(own);
    if (pending)
      this.#faults.report("id-as-text", "The server answers with the request's id as text instead of as a number.");
    return pending;
  }

  #onNotification(notification: RpcNotification, related: RequestId | undefined): void {
    if (notification.method !== "notifications/progress") return this.#handlers.onNotification(notification, related);
    const token = notification.params?.["progressToken"];
    const pending = this.#pending.get(typeof token === "string" ? Number(token) : (token as RequestId));
    // Late or unrequested progress is dropped here, because it makes some clients fail.
    if (!pending?.onProgress || !notification.params) return;
    pending.onProgress(notification.params);
  }

  #onNonsense(value: unknown, { id, reason }: Nonsense, related: RequestId | undefined): void {
    this.#faults.report("not-json-rpc", `The server sent something that is not JSON-RPC: ${reason}.`, () => ({
      sample: firstChars(stringifyExact(value), MAX_SAMPLE_CHARS),
    }));
    // Only JSON-RPC messages are reported, because structured log lines may have an id that belongs to no request.
    if (!isJsonObject(value) || !claimsJsonRpc(value)) return;
    if (hasMethod(value)) {
      if (id !== null)
        void this.post(rpcError(id, { code: RPC.invalidRequest, message: `Invalid request: ${reason}` }), related);
      return;
    }
    const about = id ?? related;
    if (about === undefined) return;
    this.#take(about)?.reject(
      fail("malformed", `The server answered with something that is not a JSON-RPC reply: ${reason}.`),
    );
  }

  #end(failure: Fail): void {
    if (this.#closed) return;
    this.#closed = failure;
    const pending = this.#pending.values();
    this.#pending.clear();
    for (const one of pending) {
      one.release();
      one.reject(failure);
    }
    this.#handlers.onClose(failure);
  }
}

/** Way in which the server is notified that an answer is no longer needed. */
interface WayToCancel {
  readonly cancelBy: CancelBy;
  /** The stream of the request, on a transport with one stream per request. */
  readonly stream: Canceller | undefined;
}

/** Maximum number of logged characters of a message that is not JSON-RPC. */
const MAX_SAMPLE_CHARS = 200;

/** The fault of an invalid message, and its id if it has one. */
interface Nonsense {
  readonly id: RequestId | null;
  readonly reason: string;
}

const GIVEN_UP = new DOMException("The request was cancelled.", "AbortError");

/** Maximum number of characters of a caller's reason that is passed on. */
const MAX_REASON_CHARS = 1000;

/** Returns the reason of a cancellation, with the caller's own text if it sent one. */
function reasonOf({ kind, details }: Fail): string {
  if (kind === "timeout") return "timeout";
  const said = details?.["reason"];
  return typeof said === "string" ? firstChars(said, MAX_REASON_CHARS) : "cancelled by the caller";
}

/** Returns the number that a server sent as text. */
function numberOf(id: RequestId): number | undefined {
  return typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

/** Returns the failure marked as unsent, so that its request may be sent over another connection. */
export function unsent(failure: Fail): Fail {
  const { details, retryable } = failure;
  // A request that was lost during its execution must not be repeated. A request that was never sent may be.
  return { ...failure, retryable: retryable || details?.["sent"] === true, details: { ...details, sent: false } };
}

function withProgressToken(params: JsonObject, token: RequestId): JsonObject {
  const meta = objectMember(params, "_meta");
  return withMember(params, "_meta", meta ? withMember(meta, "progressToken", token) : { progressToken: token });
}
