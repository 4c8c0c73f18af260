import type { Principal } from "../core/call.ts";
import type { EventStream } from "./event-stream.ts";

/** What the listener knows of a request that it hands to a handler. */
export interface RequestContext {
  readonly principal: Principal;
  /** Where the caller is; behind a trusted proxy, where that says it is. */
  readonly remoteAddress: string;
  /** `http://host:port/base` as the caller names it, without a slash at its end. */
  readonly baseUrl: string;
  /** Below the base path, with a leading slash, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Aborted when the listener begins to close: streams should end. */
  readonly closing: AbortSignal;
  readonly maxJsonDepth: number;
  /** The whole body, up to `maxBytes` (the listener's bound where absent). Rejects with a `Refusal`; call it once. */
  readBody(maxBytes?: number): Promise<Buffer>;
  /** Begins a stream of server-sent events as the answer. */
  openStream(headers?: Readonly<Record<string, string>>): EventStream;
}
