import type { ArrivingBytes, ReleaseBytes } from "./request/body-budget.ts";

/** Names in lower case. Only `set-cookie`, which no caller sends, has several values. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Names and values of headers, alternating. */
export type RawHeaders = readonly string[];

/** Counts the bytes of an arriving body under the client that sends it. */
export interface BodyAccounts {
  openBody(release: ReleaseBytes): ArrivingBytes;
}

/** A request from an adapter: its line, its headers and its body. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent, or a whole URL. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Address of the connection's peer; empty if there is none. */
  readonly peerAddress: string;
  /** The connection that carried it, as an identity; absent if this program has none. */
  readonly connection?: object;
  /** True if it arrived encrypted, as far as this program can see. */
  readonly isSecure: boolean;
  /** Returns one header by its name in lower case. */
  header(name: string): string | undefined;
  /**
   * Returns the whole body, or a promise while it is still arriving; then its bytes are counted by `accounts`. Must be
   * called at most once. Throws or rejects with a `Refusal` for a body above `maxBytes`, a compressed one, one that
   * ends early, and one that is released because too many bytes are held.
   */
  readBody(maxBytes: number, accounts: BodyAccounts): Buffer | Promise<Buffer>;
}

/** Events of an answer's wire. Each is reported as often as it occurs; `closed` occurs once. */
export interface WireEvents {
  /** Nothing more can be sent: the answer was sent, or the caller disconnected. */
  closed(): void;
  /** Like Node's `drain`: writing may continue after `write` returned false. */
  drained(): void;
}

/**
 * The wire of one answer, implemented by each adapter (`node/`, `fetch/`, `workers/`). Endpoints use an `HttpAnswer`,
 * which keeps the order of these calls: one `begin`, then pieces, then one `end`, or `cut` at any time.
 */
export interface AnswerWire {
  /** True if nothing that is sent reaches the client. */
  readonly isGone: boolean;
  /** Bytes that the caller has not read yet. */
  readonly waitingBytes: number;
  /** Changes when the client has read something. */
  readonly sentBytes: number;
  /** Receiver of the events. Set once, before anything is sent. */
  events: WireEvents | undefined;
  /** Adds a header to the later head. */
  setHeader(name: string, value: string): void;
  /** Sets the head. It may wait for the first piece. */
  begin(status: number, headers: RawHeaders): void;
  /** Sends the head now. */
  flush(): void;
  /** Returns false if the waiting data is enough for now. `onTaken` runs when this piece has left the program. */
  write(piece: string | Uint8Array, onTaken?: () => void): boolean;
  /** `encoding`: `latin1` for a text with one character per byte, which needs no encoding. */
  end(last?: string | Uint8Array, encoding?: "latin1" | "utf8"): void;
  /** Closes the connection without an end of the answer. */
  cut(): void;
}
