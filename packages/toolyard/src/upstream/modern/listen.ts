import { Deadline } from "../../core/calls/deadline.ts";
import { FailError } from "../../core/errors.ts";
import { objectMember, type JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { orAborted } from "../../core/timing/wait.ts";
import { RPC, type RequestId, type RpcNotification } from "../../wire/messages.ts";
import { subscriptionIdOf } from "../../wire/modern/envelope.ts";
import { Backoff } from "../links/backoff.ts";
import type { Era } from "../connection/era.ts";
import type { Exchange } from "../connection/exchange.ts";
import { failureOf } from "../faults.ts";
import type { Watcher } from "../links/watcher.ts";

/** Maximum time for a server to acknowledge a stream. */
const ACKNOWLEDGE_MS = 10_000;

const LISTS = [
  { capability: "tools", member: "toolsListChanged" },
  { capability: "prompts", member: "promptsListChanged" },
  { capability: "resources", member: "resourcesListChanged" },
] as const;

interface ListenStream {
  readonly id: number;
  readonly controller: AbortController;
  readonly acknowledged: Acknowledgement;
  honoured: JsonObject;
  /**
   * True after the stream ended. This is needed because the end may be handled before the code that waits for the
   * acknowledgement continues.
   */
  hasEnded: boolean;
}

interface Acknowledgement {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * One `subscriptions/listen` stream for all subscriptions. When the watched set changes, the next stream is opened and
 * acknowledged before the old one is closed, so that no notification is missed. A stream that ends is opened again,
 * with growing pauses while that fails.
 */
export class ListenConnection implements Watcher {
  readonly #exchange: Exchange;
  readonly #era: Era;
  readonly #onResumed: () => void;
  readonly #backoff = new Backoff({ firstMs: 500, maxMs: 60_000, stableMs: 30_000 });
  #uris: ReadonlySet<string> = new Set();
  #active: ListenStream | undefined;
  #opening: ListenStream | undefined;
  #retry: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(exchange: Exchange, era: Era, onResumed: () => void) {
    this.#exchange = exchange;
    this.#era = era;
    this.#onResumed = onResumed;
  }

  watch(uris: ReadonlySet<string>): Promise<void> {
    this.#uris = new Set(uris);
    const done = this.#turn.then(() => this.#replace());
    this.#turn = done.catch(() => {});
    return done;
  }

  accepts(notification: RpcNotification, related: RequestId | undefined): boolean {
    const id = subscriptionIdOf(notification.params) ?? related;
    if (id === undefined || !this.#active) return true;
    // Accepted from both streams: a notification that arrives on the next stream before the switch does not arrive on
    // the other one.
    return id === this.#active.id || id === this.#opening?.id;
  }

  takes(notification: RpcNotification, related: RequestId | undefined): boolean {
    const { method, params } = notification;
    if (method === "notifications/subscriptions/acknowledged") {
      this.#onAcknowledged(params, related);
      return true;
    }
    if (method !== "notifications/cancelled" || !this.#active || params?.["requestId"] !== this.#active.id)
      return false;
    this.#active.controller.abort();
    return true;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#opening?.controller.abort();
    this.#active?.controller.abort();
    this.#opening = undefined;
    this.#active = undefined;
  }

  #onAcknowledged(params: JsonObject | undefined, related: RequestId | undefined): void {
    const id = subscriptionIdOf(params) ?? related;
    const stream = this.#opening;
    if (!stream || (id !== undefined && id !== stream.id)) return;
    stream.honoured = (params && objectMember(params, "notifications")) ?? {};
    stream.acknowledged.resolve();
  }

  async #replace(): Promise<void> {
    clearTimeout(this.#retry);
    if (this.#isClosed || this.#exchange.closed) return;
    const filter = this.#filter();
    const old = this.#active;
    if (Object.keys(filter).length === 0) {
      this.#active = undefined;
      return old?.controller.abort();
    }
    const stream = this.#start(filter);
    this.#opening = stream;
    const deadline = new Deadline({ idleMs: ACKNOWLEDGE_MS, totalMs: ACKNOWLEDGE_MS });
    try {
      await orAborted(stream.acknowledged.promise, deadline.signal);
    } catch (error) {
      stream.controller.abort();
      // The error is ignored if the server declares none of these notifications, because it then may not support the
      // method.
      if (this.#isPromised(filter)) throw error;
      return;
    } finally {
      deadline.clear();
      this.#opening = undefined;
    }
    if (Object.keys(stream.honoured).length === 0 && !this.#isPromised(filter)) return stream.controller.abort();
    this.#active = stream;
    this.#backoff.succeeded();
    old?.controller.abort();
    if (stream.hasEnded) this.#ended(stream, undefined);
  }

  /**
   * Returns the filter for all lists of the server: some servers declare `listChanged: false`, or nothing, and still
   * send notifications on request.
   */

  #filter(): JsonObject {
    const { capabilities } = this.#era;
    const filter: Record<string, unknown> = {};
    for (const { capability, member } of LISTS) if (objectMember(capabilities, capability)) filter[member] = true;
    if (this.#uris.size > 0 && objectMember(capabilities, "resources")?.["subscribe"] === true)
      filter["resourceSubscriptions"] = [...this.#uris];
    return filter;
  }

  /** Returns whether the server declared any of these notifications. */
  #isPromised(filter: JsonObject): boolean {
    if (filter["resourceSubscriptions"] !== undefined) return true;
    return LISTS.some(({ capability }) => objectMember(this.#era.capabilities, capability)?.["listChanged"] === true);
  }

  #start(filter: JsonObject): ListenStream {
    const controller = new AbortController();
    const sent = this.#exchange.start(
      "subscriptions/listen",
      { notifications: filter, _meta: this.#era.envelope({}) },
      { signal: controller.signal, cancelBy: this.#era.cancelBy, send: { longLived: true } },
    );
    const stream: ListenStream = {
      id: sent.id,
      controller,
      acknowledged: acknowledgement(),
      honoured: {},
      hasEnded: false,
    };
    sent.reply.then(
      (reply) =>
        this.#ended(
          stream,
          "error" in reply
            ? new FailError(fail("tool_error", reply.error.message, { rpcError: reply.error }))
            : undefined,
        ),
      (error: unknown) => this.#ended(stream, error),
    );
    return stream;
  }

  #ended(stream: ListenStream, error: unknown): void {
    stream.acknowledged.reject(error ?? new FailError(notAcknowledged()));
    stream.hasEnded = true;
    if (this.#active !== stream) return;
    this.#active = undefined;
    const isRefused = error !== undefined && failureOf(error).rpcError?.code === RPC.methodNotFound;
    // If the server closed the stream because it accepted no part of the filter, another request would have the same
    // result.
    if (this.#isClosed || this.#exchange.closed || isRefused || Object.keys(stream.honoured).length === 0) return;
    this.#retryLater();
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => {
      this.watch(this.#uris).then(this.#onResumed, () => {
        if (!this.#isClosed && !this.#exchange.closed) this.#retryLater();
      });
    }, this.#backoff.nextMs());
    this.#retry.unref();
  }
}

function acknowledgement(): Acknowledgement {
  let resolve = (): void => {};
  let reject = (_error: unknown): void => {};
  const promise = new Promise<void>((onAcknowledged, onFailed) => {
    resolve = onAcknowledged;
    reject = onFailed;
  });
  // Prevents an unhandled rejection if no code is waiting for this promise any more.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function notAcknowledged() {
  return fail("unavailable", "The server did not acknowledge the subscription.");
}
