import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import type { RequestId, RpcMessage } from "../../wire/messages.ts";

/**
 * Transport to one MCP server: a child's pipes, Streamable HTTP, or HTTP+SSE. It carries messages without interpreting
 * them, except for its own framing (headers, session ids). One transport is one connection: opened once, closed once,
 * never reused.
 */
export interface Transport {
  /**
   * True over HTTP, where each request has its own response stream. A message on such a stream belongs to that request.
   * Closing the stream cancels the request, which is how a modern server learns of a cancellation. False on pipes,
   * which have one stream for everything.
   */
  readonly perRequestStreams: boolean;
  /**
   * True if parameters are repeated in headers (`x-mcp-header`), so that tools with invalid annotations cannot be
   * called.
   */
  readonly mirrorsParams: boolean;
  /**
   * True if the server distinguishes this connection from others and keeps state for it: always on pipes; on legacy
   * HTTP after it has returned a session id. The value is final after the first answer.
   */
  readonly sessionful: boolean;
  /** Returns the known facts for `status`, without secrets: `{pid}`, `{endpoint}`, `{framing}`. */
  describe(): JsonObject;
  /**
   * Prepares for sending: starts the child; does nothing for HTTP. Rejects with a `FailError` that names what could not
   * be started, with advice. After a rejection, nothing is left running and `onClose` is not called.
   */
  open(handlers: TransportHandlers, signal?: Cancellation): Promise<void>;
  /**
   * Sends one message. Resolves once it is sent, at the latest when its answer has been read. Rejects with a
   * `FailError` if the message could not be delivered. Also rejects for a request whose answer can no longer arrive;
   * this ends only that request. `details.sent` is `false` if the server cannot have started to process the message, so
   * that sending it again is safe. An answer is always passed to `onMessage`, with any HTTP status, and even if its id
   * is `null`.
   */
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  /**
   * Sets the revision after the handshake; HTTP repeats it in a header. Before that, a message with the modern envelope
   * in `_meta` is sent with headers from the envelope, any other without a version.
   */
  setProtocolVersion(version: string): void;
  /** Ends everything that was started, within a limited time. Idempotent. Does not call `onClose`. */
  close(options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** True if the server hangs or was never ready, so that it gets no time to save its state. @default false */
  readonly isUseless?: boolean;
}

export interface SendOptions {
  /** Cancels the request: its response stream is closed and later data is dropped. Pipes ignore it. */
  readonly signal?: Cancellation | undefined;
  /**
   * The request to which this message belongs, of either side: the call of a notification, or the request of an answer.
   */
  readonly relatedTo?: RequestId;
  /** Input schema of the tool of a `tools/call`. HTTP reads from it which parameters to repeat in headers. */
  readonly inputSchema?: JsonObject | undefined;
  /** True for a stream that stays open without data (`subscriptions/listen`), so that no idle limit applies. */
  readonly longLived?: boolean | undefined;
  /**
   * Maximum time without data on an HTTP request; absent: the transport's own limit. The caller's deadline is part of
   * `signal`.
   */
  readonly idleMs?: number;
  /**
   * True if a lost session refused the request before, and it is sent again in a new session. The answer then never
   * counts as a lost session, so that the request is repeated only once.
   */
  readonly afterLoss?: boolean | undefined;
  /** The caller, if callers share connections. @default the transport's own caller */
  readonly caller?: Caller | undefined;
}

export interface TransportHandlers {
  /**
   * Receives one parsed JSON value, not necessarily JSON-RPC. `related` is the id of the request on whose response
   * stream it arrived; absent on pipes and on the standing stream of legacy HTTP. Called in order of arrival; members
   * of a batch are passed one by one.
   */
  onMessage(message: unknown, related?: RequestId): void;
  /** Called once when the connection has ended, but never after `close()` was called. */
  onClose(failure: Fail): void;
  /** Called if the answer to this request exceeded the limit, or if its stream broke. The connection continues. */
  onLost?(id: RequestId, failure: Fail): void;
  /** Called for data that is not a message: a log line on stdout, an incomplete line, an event over the limit. */
  onNoise?(noise: Noise): void;
  /** Receives one line of a child's stderr. */
  onStderr?(line: string): void;
  /** Legacy HTTP: called when a lost standing stream is open again. List changes may have been missed. */
  onResumed?(): void;
}

export interface Noise {
  readonly kind: "not-json" | "too-long" | "unfinished";
  /** Description without the content. */
  readonly message: string;
  /** Start of the content, truncated, for the log. */
  readonly sample?: string;
}

/**
 * Creates a new transport. An ended connection is replaced, not reopened. `caller`: the caller that it serves; absent:
 * several.
 */
export type OpenTransport = (caller?: Caller) => Transport;
