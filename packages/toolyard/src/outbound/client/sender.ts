import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import type { ResponseBody } from "./response-body.ts";

/** One request as it goes out. */
export interface Outgoing {
  readonly origin: string;
  /** With its query. */
  readonly path: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Names in lower case. Nobody changes them, so the same object says the same. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Bound of silence, before the headers and between two chunks; 0 for none. */
  readonly silenceMs: number;
  /** Whose share of the connections it takes. @default the hub's own */
  readonly caller?: Caller | undefined;
  /**
   * It is answered at once, and what has all the connections may wait for just that: it may go over one more than there
   * are otherwise. @default false
   */
  readonly isMessage?: boolean | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Takes names in lower case. */
  readonly header: (name: string) => string | undefined;
  /** Whoever gets the response reads it to its end, discards or destroys it. */
  readonly body: ResponseBody;
}

/** Whatever sends requests over connections that it keeps. */
export interface Sender {
  /**
   * Resolves with the head of the response. Rejects with what the request died of, or with the signal's reason as soon
   * as that aborts, be it that the request still waits for a connection; the signal ends the body, too.
   */
  send(request: Outgoing, signal: Cancellation): Promise<HttpResponse>;
  /** Ends all connections, and what is under way over them. */
  destroy(): Promise<void>;
}
