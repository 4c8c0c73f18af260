import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import type { ResponseBody } from "./response-body.ts";

/** One outgoing request. */
export interface TransportRequest {
  readonly origin: string;
  /** Path with the query. */
  readonly path: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Names in lower case. Immutable, so that results can be cached by the object. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** Maximum inactivity, before the headers and between two chunks; 0: no limit. */
  readonly silenceMs: number;
  /** Caller whose share of the connections is used. @default the hub's own share */
  readonly caller?: Caller | undefined;
  /**
   * True: the request may use one connection above the limit. Set it if the server answers immediately, because calls
   * that occupy all connections may wait for it. @default false
   */
  readonly isMessage?: boolean | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Returns the value of a header. Expects names in lower case. */
  readonly header: (name: string) => string | undefined;
  /** The receiver must read it to its end, discard it or destroy it. */
  readonly body: ResponseBody;
}

/** Client that sends requests over kept connections. */
export interface Sender {
  /**
   * Sends a request. Resolves with the head of the response. Rejects with the error that ended the request. Rejects
   * with the signal's reason as soon as the signal aborts, even while the request is queued. The signal also ends the
   * body.
   */
  send(request: TransportRequest, signal: Cancellation): Promise<HttpResponse>;
  /** Closes all connections and fails their requests. */
  destroy(): Promise<void>;
}
