import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import type { RequestId, RpcMessage } from "../../wire/messages.ts";

/**
 * The way to one MCP server: a child's pipes, Streamable HTTP, HTTP+SSE. It carries messages and knows nothing of what
 * they mean, save what its own framing needs (headers, session ids). One transport is one connection: opened once,
 * closed once, never reused.
 */
export interface Transport {
  /**
   * HTTP: each request has a response stream of its own. A message that came on it is related to that request, and
   * giving up on a request closes its stream, which is how a modern server hears of a cancellation. Pipes have one
   * stream for everything.
   */
  readonly perRequestStreams: boolean;
  /** Parameters are repeated in headers (`x-mcp-header`), so tools whose annotations are invalid cannot be called. */
  readonly mirrorsParams: boolean;
  /**
   * The server tells this connection from others and keeps state for it: always so on pipes; on legacy HTTP once it
   * gave a session id. Read after the first answer.
   */
  readonly sessionful: boolean;
  /** Facts for `status`, known so far and without secrets: `{pid}`, `{endpoint}`, `{framing}`. */
  describe(): JsonObject;
  /**
   * Gets ready to send: starts the child, or nothing for HTTP. Rejects with a `FailError` that says what could not be
   * started and what to do. After a rejection nothing is left behind and `onClose` is not called.
   */
  open(handlers: TransportHandlers, signal?: Cancellation): Promise<void>;
  /**
   * Hands one message over. Resolves once it is on its way, at the latest when its answer has been read. Rejects with a
   * `FailError` when it could not be delivered or, for a request, when its answer cannot come any more (the connection
   * then ends that request and nothing else); `details.sent` is `false` when the server cannot have begun to work on
   * it, so that sending it again is safe. An answer is always handed to `onMessage`, whatever HTTP status it came with,
   * also when its id is `null`.
   */
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  /**
   * The era is settled and this revision is spoken from now on; HTTP repeats it in a header. Before that, a message
   * whose `_meta` holds the modern envelope goes out with the headers that the envelope calls for, any other without a
   * version.
   */
  setProtocolVersion(version: string): void;
  /** Ends everything that was started, within a bounded time. Idempotent. `onClose` is not called for it. */
  close(options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** The server hangs or never got ready, so it gets no time to save what it has. @default false */
  readonly isUseless?: boolean;
}

export interface SendOptions {
  /** Gives up on the request: its response stream is closed and what still comes is dropped. Pipes ignore it. */
  readonly signal?: Cancellation | undefined;
  /**
   * The server's request or our request that this message belongs to: the call during which we notify, the ask we
   * answer.
   */
  readonly relatedTo?: RequestId;
  /** Input schema of the tool that a `tools/call` is for; HTTP reads the parameters to repeat in headers from it. */
  readonly inputSchema?: JsonObject | undefined;
  /** A stream that is meant to stay open and quiet (`subscriptions/listen`): no idle bound. */
  readonly longLived?: boolean | undefined;
  /**
   * How long an HTTP request may stay without any byte; absent: the transport's own bound. The caller's deadline comes
   * by `signal`.
   */
  readonly idleMs?: number;
  /**
   * The request was refused by a session that the server had lost, and is sent again in a new one. What the server
   * answers now counts as it is, so that a session is lost once.
   */
  readonly afterLoss?: boolean | undefined;
  /** Whose call it is, where connections have to be shared. @default whom the transport is for */
  readonly caller?: Caller | undefined;
}

export interface TransportHandlers {
  /**
   * One parsed JSON value; it need not be JSON-RPC. `related` is the id of the request on whose response stream it
   * came, absent on pipes and on the standing stream of legacy HTTP. Called in the order of arrival; the members of a
   * batch one by one.
   */
  onMessage(message: unknown, related?: RequestId): void;
  /** The connection is over and nothing more will come. Called once, and never after `close()` was called. */
  onClose(failure: Fail): void;
  /**
   * The answer to this request was seen and could not be kept (over the bound), or its stream broke; the connection
   * goes on.
   */
  onLost?(id: RequestId, failure: Fail): void;
  /** Something arrived that is no message: a log line on stdout, half a line, an event over the bound. */
  onNoise?(noise: Noise): void;
  /** One line of a child's stderr. */
  onStderr?(line: string): void;
  /** Legacy HTTP: the standing stream was lost and is there again; list changes may have been missed. */
  onResumed?(): void;
}

export interface Noise {
  readonly kind: "not-json" | "too-long" | "unfinished";
  /** What was seen, in words, without its content. */
  readonly message: string;
  /** The beginning of it, bounded, for the log. */
  readonly sample?: string;
}

/**
 * Makes a fresh transport: a connection that ended is replaced, not revived. `caller` is whom it is for; absent: for
 * several of them.
 */
export type OpenTransport = (caller?: Caller) => Transport;
