import type { ArrivingBytes, ReleaseBytes } from "./request/body-budget.ts";

/** Request headers. Names are in lower case. Only `set-cookie`, which no caller sends, may have several values. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Names and values of headers, alternating. */
export type RawHeaders = readonly string[];

/** Counts the bytes of an arriving body for the client that sends it. */
export interface BodyAccounts {
  openBody(release: ReleaseBytes): ArrivingBytes;
}

/**
 * Values that depend only on the head and the connection of a request. A request that repeats the head of the previous
 * request on its connection shares them, so that most requests of a client need no checks of their head.
 */
export class HeadMemo {
  /** Dispatcher that set `checked`. */
  checker: object | undefined;
  checked: unknown;
  /** Function that returned `read`. */
  reader: unknown;
  read: unknown;
}

/** Request from an adapter: request line, headers and body. */
export interface HttpRequest {
  /** Values that repeated heads share. Absent if the adapter does not recognise repeated heads. */
  readonly memo?: HeadMemo;
  readonly method: string;
  /** Path and query as sent, or a whole URL. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Address of the connection's peer. Empty if there is none. */
  readonly peerAddress: string;
  /** Object that identifies the connection of the request. Absent if this program has no connection. */
  readonly connection?: object;
  /** True if the request arrived encrypted, as far as this program can detect. */
  readonly isSecure: boolean;
  /** Returns one header by its name in lower case. */
  header(name: string): string | undefined;
  /**
   * Returns the whole body, or a promise while it is still arriving; `accounts` then counts its bytes. May be called
   * only once. Throws or rejects with a `Refusal` for a body above `maxBytes`, a compressed body, one that ends early,
   * and one that is released because too many bytes are held.
   */
  readBody(maxBytes: number, accounts: BodyAccounts): Buffer | Promise<Buffer>;
}

/** Events of an answer's wire. `closed` occurs once, other events may occur several times. */
export interface WireEvents {
  /** No more data can be sent: the answer was sent, or the caller disconnected. */
  closed(): void;
  /** Writing may continue after `write` returned false, like Node's `drain`. */
  drained(): void;
}

/**
 * Wire of one answer, implemented by each adapter (`node/`, `fetch/`, `workers/`). Endpoints use an `HttpAnswer`, which
 * ensures the order of these calls: one `begin`, then pieces, then one `end`; `cut` at any time.
 */
export interface AnswerWire {
  /** True if no data reach the client any more. */
  readonly isGone: boolean;
  /** Number of bytes that the caller has not read yet. */
  readonly waitingBytes: number;
  /** A value that changes each time the client has read something. */
  readonly sentBytes: number;
  /** Receiver of the events. Set once, before anything is sent. */
  events: WireEvents | undefined;
  /** Adds a header to the head, which is sent later. */
  setHeader(name: string, value: string): void;
  /** Sets the head. It may wait for the first piece. */
  begin(status: number, headers: RawHeaders): void;
  /** Sends the head immediately. */
  flush(): void;
  /**
   * Writes a piece. Returns false if enough data are waiting. `onTaken` is called when this piece has left the program.
   */
  write(piece: string | Uint8Array, onTaken?: () => void): boolean;
  /** Ends the answer. `encoding`: `latin1` for a text with one character per byte, which needs no encoding. */
  end(last?: string | Uint8Array, encoding?: "latin1" | "utf8"): void;
  /** Closes the connection without completing the answer. */
  cut(): void;
}
