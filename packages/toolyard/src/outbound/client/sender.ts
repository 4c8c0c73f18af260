import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import type { ResponseBody } from "./response-body.ts";

/** One request as it goes out. */
export interface TransportRequest {
  readonly origin: string;
  /** With its query. */
  readonly path: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Names in lower case. Immutable, so that results can be cached by the object. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Bound of silence, before the headers and between two chunks; 0 for none. */
  readonly silenceMs: number;
  /** Caller with the share of the connections that it uses. @default the hub's own */
  readonly caller?: Caller | undefined;
  /**
   * The server answers immediately, and calls that occupy all connections may wait for it, so it may use one connection
   * above the limit. @default false
   */
  readonly isMessage?: boolean | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Takes names in lower case. */
  readonly header: (name: string) => string | undefined;
  /** The receiver must read it to its end, discard it or destroy it. */
  readonly body: ResponseBody;
}

/** Sends requests over connections that it keeps. */
export interface Sender {
  /**
   * Resolves with the head of the response. Rejects with what the request died of, or with the signal's reason as soon
   * as that aborts, be it that the request still waits for a connection; the signal ends the body, too.
   */
  send(request: TransportRequest, signal: Cancellation): Promise<HttpResponse>;
  /** Closes all connections and fails their requests. */
  destroy(): Promise<void>;
}
