import { Canceller, type Cancellation } from "../../core/calls/cancellation.ts";
import { sendAtTurnEnd } from "../../core/timing/turn-end.ts";
import { findInvalidHeader } from "./header-value.ts";
import type { AnswerWire, RawHeaders, WireEvents } from "../wire.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Number of requests whose answer has not started. While there are any, answers are collected and sent together. */
let awaited = 0;

/** Owner of an answer. It formats the challenge for scopes that the caller's access token lacks. */
export interface ScopesOwner {
  challengeScopes(scopes: readonly string[]): string | undefined;
}

/** Receives the error if the head of an answer could not be sent. */
export interface AnswerFaults {
  error(message: string, facts: { readonly header: string; readonly status: number }): void;
}

const NO_FAULTS: AnswerFaults = { error: () => {} };

const FAULT_BODY =
  '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error: a header of this answer has a character that ' +
  'HTTP does not allow. The log of the hub names the header."},"id":null}';

/**
 * The only answer to a request. Sending after its end, or to a disconnected client, has no effect. A head with a header
 * that is invalid in HTTP is replaced by a fixed 500 and reported to `faults`. Nothing is thrown, because an answer may
 * be started from a timer or by another process.
 */
export class HttpAnswer implements WireEvents {
  readonly #wire: AnswerWire;
  readonly #faults: AnswerFaults;
  #status = 0;
  #isAnswered = false;
  #isOver: boolean;
  #isAwaited: boolean;
  #gone: Canceller | undefined;
  #closers: (() => void)[] | undefined;
  #onDrained: (() => void) | undefined;
  #scopesChallenge: string | undefined;
  /** Exchange of this answer. The exchange sets it. */
  scopesOwner: ScopesOwner | undefined;
  /** Name of the first header set by `setHeader` that HTTP cannot carry. */
  #invalidHeader: string | undefined;

  constructor(wire: AnswerWire, faults: AnswerFaults = NO_FAULTS) {
    this.#wire = wire;
    this.#faults = faults;
    wire.events = this;
    this.#isOver = wire.isGone;
    this.#isAwaited = !this.#isOver;
    if (this.#isAwaited) awaited += 1;
  }

  /** Status of the sent head. 0 before the head was sent. */
  get status(): number {
    return this.#status;
  }

  /** True after the head was sent, so that no other answer is possible. */
  get isBegun(): boolean {
    return this.#status !== 0;
  }

  /** True if no data reach the client any more. */
  get isGone(): boolean {
    return this.#isOver || this.#wire.isGone;
  }

  /** True while the client waits and no answer has started. */
  get isOpen(): boolean {
    return this.#status === 0 && !this.isGone;
  }

  /** Number of bytes that the caller has not read yet. */
  get waitingBytes(): number {
    return this.#wire.waitingBytes;
  }

  /** A value that changes each time the client has read something. */
  get sentBytes(): number {
    return this.#wire.sentBytes;
  }

  /** Aborted when the caller disconnects before the answer. */
  get signal(): Cancellation {
    if (!this.#gone) {
      this.#gone = new Canceller();
      if (this.#isOver && !this.#isAnswered) this.#gone.abort(callerGone());
    }
    return this.#gone;
  }

  /**
   * Turns the answer into a 403 with a challenge that names these scopes (RFC 6750, `insufficient_scope`). The body
   * stays the one that is sent. Has no effect after the head was sent.
   */
  requireScopes(scopes: readonly string[]): void {
    this.#scopesChallenge = this.scopesOwner?.challengeScopes(scopes);
  }

  /** Calls `run` once, when no more data can be sent, for any reason; immediately if that is already the case. */
  onClosed(run: () => void): void {
    if (this.#isOver) run();
    else (this.#closers ??= []).push(run);
  }

  /** Calls `run` when the caller has read all waiting data. A later call replaces `run`. */
  onDrained(run: () => void): void {
    this.#onDrained = run;
  }

  /** Adds a header to the head, which is sent later. */
  setHeader(name: string, value: string): this {
    if (this.isBegun) return this;
    if (findInvalidHeader([name, value]) === undefined) this.#wire.setHeader(name, value);
    else this.#invalidHeader ??= name;
    return this;
  }

  /**
   * Sends the whole answer. If other answers are expected, all are written together at the end of the event-loop turn.
   */
  send(status: number, headers: RawHeaders, body: string | Uint8Array = ""): void {
    if (this.#status !== 0 || this.isGone) return;
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    // A 204 never has a body, so the answer must not declare a length.
    if (!this.#begin(status, headers, status === 204 ? undefined : length)) return;
    this.#isAnswered = true;
    // A string is written together with the head, a buffer separately. ASCII text needs no encoding.
    const encoding = length === body.length ? "latin1" : "utf8";
    sendAtTurnEnd(() => this.#wire.end(body, encoding), awaited === 0);
  }

  /** Sends the whole answer in pieces, some of which are already bytes. */
  sendPieces(status: number, headers: RawHeaders, pieces: readonly (string | Uint8Array)[]): void {
    if (!this.isOpen) return;
    const length = pieces.reduce(
      (sum, piece) => sum + (typeof piece === "string" ? Buffer.byteLength(piece) : piece.length),
      0,
    );
    if (!this.#begin(status, headers, length)) return;
    this.#isAnswered = true;
    for (const piece of pieces) this.#wire.write(piece);
    this.#wire.end();
  }

  /** Starts an answer of unknown length. Throws if an answer was started. */
  begin(status: number, headers: RawHeaders): void {
    if (this.isBegun) throw new Error("The head of this answer was sent already.");
    this.#begin(status, headers);
  }

  /** Sends the head immediately, without waiting for the first piece. */
  flush(): void {
    if (!this.#isAnswered && !this.isGone) this.#wire.flush();
  }

  /** Writes a piece. Returns false if enough data are waiting; `onDrained` is called when they were read. */
  write(piece: string | Uint8Array, onTaken?: () => void): boolean {
    return !this.#isAnswered && !this.isGone && this.#wire.write(piece, onTaken);
  }

  /** Ends the answer. `encoding`: `latin1` for a text with one character per byte. */
  end(last: string | Uint8Array = "", encoding: "latin1" | "utf8" = "utf8"): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    if (!this.isGone) this.#wire.end(last, encoding);
  }

  /** Closes the connection, for an answer that cannot be completed. */
  cut(): void {
    this.#wire.cut();
  }

  closed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#awaitNoMore();
    if (!this.#isAnswered) this.#gone?.abort(callerGone());
    for (const run of this.#closers ?? []) run();
    this.#closers = undefined;
  }

  drained(): void {
    this.#onDrained?.();
  }

  #awaitNoMore(): void {
    if (this.#isAwaited) awaited -= 1;
    this.#isAwaited = false;
  }

  /** Sends the head. Returns false if it is invalid; the answer is then a complete 500. */
  #begin(given: number, givenHeaders: RawHeaders, length?: number): boolean {
    this.#awaitNoMore();
    const challenge = this.#scopesChallenge;
    const status = challenge === undefined ? given : 403;
    const headers = challenge === undefined ? givenHeaders : [...givenHeaders, "www-authenticate", challenge];
    const invalid = this.#invalidHeader ?? findInvalidHeader(headers);
    this.#status = invalid === undefined ? status : 500;
    if (invalid === undefined)
      this.#wire.begin(status, length === undefined ? headers : [...headers, "content-length", String(length)]);
    else this.#answerFault(invalid, status);
    return invalid === undefined;
  }

  #answerFault(header: string, status: number): void {
    this.#isAnswered = true;
    this.#faults.error("An answer has a header that HTTP cannot carry; it was replaced by status 500.", {
      header: firstChars(header, MAX_LOGGED_CHARS),
      status,
    });
    this.#wire.begin(500, ["content-type", "application/json", "content-length", String(FAULT_BODY.length)]);
    this.#wire.end(FAULT_BODY, "latin1");
  }
}

const MAX_LOGGED_CHARS = 100;

function callerGone(): Error {
  return new Error("The caller closed the connection.");
}
