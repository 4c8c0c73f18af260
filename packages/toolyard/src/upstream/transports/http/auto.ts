import type { Cancellation } from "../../../core/calls/cancellation.ts";
import { FailError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { RpcMessage } from "../../../wire/messages.ts";
import type { SendOptions, Transport, TransportHandlers } from "../transport.ts";
import type { HttpConnectionOptions } from "./http-connection.ts";
import { HttpSseTransport } from "./http-sse.ts";
import { StreamableHttpTransport } from "./streamable-http.ts";

/** Facts that one connection has determined. The next connection to the same server uses them. */
export interface KnownTransport {
  known?: "streamable" | "sse";
}

/** Statuses with which a server that only supports HTTP+SSE refuses a POST. */
const NO_POST_HERE: readonly unknown[] = [400, 404, 405, 406, 415, 501];

/**
 * Streamable HTTP, or HTTP+SSE if the server refuses `initialize` by status alone and opens a stream for GET. The
 * specification describes this test for old servers.
 */
export class AutoHttpTransport implements Transport {
  readonly #options: HttpConnectionOptions;
  readonly #framing: KnownTransport;
  #inner: Transport;
  #handlers: TransportHandlers | undefined;
  #isClosed = false;

  constructor(options: HttpConnectionOptions, framing: KnownTransport) {
    this.#options = options;
    this.#framing = framing;
    this.#inner = framing.known === "sse" ? new HttpSseTransport(options) : new StreamableHttpTransport(options);
  }

  get perRequestStreams(): boolean {
    return this.#inner.perRequestStreams;
  }

  get mirrorsParams(): boolean {
    return this.#inner.mirrorsParams;
  }

  get sessionful(): boolean {
    return this.#inner.sessionful;
  }

  describe(): JsonObject {
    return this.#inner.describe();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async open(handlers: TransportHandlers, signal?: Cancellation): Promise<void> {
    this.#handlers = handlers;
    try {
      await this.#inner.open(handlers, signal);
    } catch (error) {
      if (!isTurnedDown(error)) throw error;
      // The server no longer supports HTTP+SSE. The fact is removed, because a newer server may have replaced the old
      // one.
      delete this.#framing.known;
      this.#inner = new StreamableHttpTransport(this.#options);
      await this.#inner.open(handlers, signal);
    }
  }

  send(message: RpcMessage, options: SendOptions = {}): Promise<void> {
    const isSettled =
      !("method" in message) || message.method !== "initialize" || this.#inner instanceof HttpSseTransport;
    return isSettled ? this.#inner.send(message, options) : this.#introduce(message, options);
  }

  async #introduce(message: RpcMessage, options: SendOptions): Promise<void> {
    try {
      await this.#inner.send(message, options);
      this.#framing.known = "streamable";
    } catch (error) {
      if (!isTurnedDown(error) || !(await this.#fallBack(options.signal))) throw error;
      await this.#inner.send(message, options);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#inner.close();
  }

  /** Switches to HTTP+SSE if the server opens a stream. */
  async #fallBack(signal: Cancellation | undefined): Promise<boolean> {
    const sse = new HttpSseTransport(this.#options);
    try {
      await sse.open(this.#handlers!, signal);
    } catch {
      return false;
    }
    if (this.#isClosed) {
      await sse.close();
      return false;
    }
    await this.#inner.close();
    this.#inner = sse;
    this.#framing.known = "sse";
    return true;
  }
}

function isTurnedDown(error: unknown): boolean {
  return (
    error instanceof FailError &&
    NO_POST_HERE.includes(error.failure.details?.["status"]) &&
    error.failure.rpcError === undefined &&
    // A refusal of the protocol version shows that the server supports Streamable HTTP, so no switch is tried.
    error.failure.details?.["revisions"] === undefined
  );
}
