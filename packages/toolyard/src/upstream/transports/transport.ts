import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import type { RequestId, RpcMessage } from "../../wire/messages.ts";

/**
 * The transport to one MCP server: a child's pipes, Streamable HTTP, HTTP+SSE. It carries messages without interpreting
 * them, except for its own framing (headers, session ids). One transport is one connection: opened once, closed once,
 * never reused.
 */
export interface Transport {
  /**
   * HTTP: each request has its own response stream. A message on it is related to that request, and cancelling a
   * request closes its stream, which is how a modern server learns of a cancellation. Pipes have one stream for
   * everything.
   */
  readonly perRequestStreams: boolean;
  /** Parameters are repeated in headers (`x-mcp-header`), so tools with invalid annotations cannot be called. */
  readonly mirrorsParams: boolean;
  /**
   * The server distinguishes this connection from others and keeps state for it: always on pipes; on legacy HTTP once
   * it returned a session id. Read after the first answer.
   */
  readonly sessionful: boolean;
  /** Returns the facts for `status` known so far, without secrets: `{pid}`, `{endpoint}`, `{framing}`. */
  describe(): JsonObject;
  /**
   * Prepares for sending: starts the child, or nothing for HTTP. Rejects with a `FailError` that names what could not
   * be started and the advice. After a rejection nothing is left running and `onClose` is not called.
   */
  open(handlers: TransportHandlers, signal?: Cancellation): Promise<void>;
  /**
   * Sends one message. Resolves once it is sent, at the latest when its answer has been read. Rejects with a
   * `FailError` if it could not be delivered or, for a request, if its answer can no longer arrive (the connection then
   * ends only that request); `details.sent` is `false` if the server cannot have started to process it, so that sending
   * it again is safe. An answer is always passed to `onMessage`, with any HTTP status, also if its id is `null`.
   */
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  /**
   * Sets the revision after the handshake; HTTP repeats it in a header. Before that, a message with the modern envelope
   * in `_meta` is sent with the headers of the envelope, any other without a version.
   */
  setProtocolVersion(version: string): void;
  /** Ends everything that was started, within a limited time. Idempotent. Does not call `onClose`. */
  close(options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** The server hangs or was never ready, so it gets no time to save its state. @default false */
  readonly isUseless?: boolean;
}

export interface SendOptions {
  /** Cancels the request: its response stream is closed and later data is dropped. Pipes ignore it. */
  readonly signal?: Cancellation | undefined;
  /**
   * The server's request or the hub's request to which this message belongs: the call of a notification, the request of
   * an answer.
   */
  readonly relatedTo?: RequestId;
  /** Input schema of the tool of a `tools/call`; HTTP reads the parameters to repeat in headers from it. */
  readonly inputSchema?: JsonObject | undefined;
  /** A stream that stays open and quiet (`subscriptions/listen`): no idle limit. */
  readonly longLived?: boolean | undefined;
  /**
   * Longest time without data on an HTTP request; absent: the transport's own limit. The caller's deadline arrives by
   * `signal`.
   */
  readonly idleMs?: number;
  /**
   * The request was refused by a session that the server had lost, and is sent again in a new one. The server's answer
   * now counts as it is, so that a session is lost only once.
   */
  readonly afterLoss?: boolean | undefined;
  /** The caller, if connections must be shared. @default the transport's own caller */
  readonly caller?: Caller | undefined;
}

export interface TransportHandlers {
  /**
   * Receives one parsed JSON value, not necessarily JSON-RPC. `related` is the id of the request on the response stream
   * of which it came, absent on pipes and on the standing stream of legacy HTTP. Called in order of arrival; the
   * members of a batch one by one.
   */
  onMessage(message: unknown, related?: RequestId): void;
  /** Called when the connection has ended. Called once, and never after `close()` was called. */
  onClose(failure: Fail): void;
  /** The answer to this request was received but exceeded the limit, or its stream broke; the connection continues. */
  onLost?(id: RequestId, failure: Fail): void;
  /** Something arrived that is not a message: a log line on stdout, half a line, an event over the limit. */
  onNoise?(noise: Noise): void;
  /** Receives one line of a child's stderr. */
  onStderr?(line: string): void;
  /** Legacy HTTP: the standing stream was lost and is open again; list changes may have been missed. */
  onResumed?(): void;
}

export interface Noise {
  readonly kind: "not-json" | "too-long" | "unfinished";
  /** A description without the content. */
  readonly message: string;
  /** Its beginning, limited in length, for the log. */
  readonly sample?: string;
}

/**
 * Creates a new transport: an ended connection is replaced, not reopened. `caller` is the caller that it serves;
 * absent: several.
 */
export type OpenTransport = (caller?: Caller) => Transport;
