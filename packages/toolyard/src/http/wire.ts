import type { ArrivingBytes, ReleaseBytes } from "./request/body-budget.ts";

/** Names in lower case. Only `set-cookie`, which no caller sends, has several values. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Names and values of headers, in turn. */
export type RawHeaders = readonly string[];

/** Counts the bytes of a body that is still arriving under the client that sends it. */
export interface BodyAccounts {
  openBody(release: ReleaseBytes): ArrivingBytes;
}

/** A request as a rim hands it on: its line, its headers and its body. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as they were sent, or a whole URL. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Address of whoever opened the connection; empty where there is none. */
  readonly peerAddress: string;
  /** The connection that it came over, to tell it from others; absent where this program has none. */
  readonly connection?: object;
  /** It came encrypted, as far as this program sees. */
  readonly isSecure: boolean;
  /** One header by its name in lower case. */
  header(name: string): string | undefined;
  /**
   * Returns the whole body, or a promise of it while it is still arriving; then its bytes are counted by `accounts`.
   * Must be called at most once. Throws or rejects with a `Refusal` for a body above `maxBytes`, a compressed one, one
   * that ends early, and one that is released because too many bytes are held.
   */
  readBody(maxBytes: number, accounts: BodyAccounts): Buffer | Promise<Buffer>;
}

/** What an answer learns from its wire. Each is told as often as it happens; `closed` happens once. */
export interface WireEvents {
  /** Nothing more can be sent: the answer is through, or the caller has gone. */
  closed(): void;
  /** The caller has taken what made `write` say that it is enough. */
  drained(): void;
}

/**
 * The way back to one caller, as each rim (`node/`, `fetch/`, `workers/`) has it. Doors see an `HttpAnswer`, which
 * keeps the order of these calls: one `begin`, then pieces, then one `end`, or `cut` at any time.
 */
export interface AnswerWire {
  /** Nothing that is sent reaches anybody. */
  readonly isGone: boolean;
  /** Bytes that the caller has not taken yet. */
  readonly waitingBytes: number;
  /** Changes when the client has taken something. */
  readonly sentBytes: number;
  /** Who is told of the end. Set once, before anything is sent. */
  events: WireEvents | undefined;
  /** Goes with whatever head is sent. */
  setHeader(name: string, value: string): void;
  /** Says the head. It may wait for the first piece. */
  begin(status: number, headers: RawHeaders): void;
  /** Lets the head leave now. */
  flush(): void;
  /** False: what waits for the caller is enough for now. `onTaken` runs when this piece has left the program. */
  write(piece: string | Uint8Array, onTaken?: () => void): boolean;
  /** `encoding`: `latin1` for a text whose characters are the bytes that are meant, which need not be encoded then. */
  end(last?: string | Uint8Array, encoding?: "latin1" | "utf8"): void;
  /** Ends the connection without an end of the answer. */
  cut(): void;
}
