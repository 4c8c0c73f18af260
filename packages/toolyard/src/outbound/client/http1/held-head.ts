import { notHttp } from "./fault.ts";

/** Maximum number of bytes before one body, including interim answers. */
export const MAX_HEAD_BYTES = 64 * 1024;

const HEAD_END = Buffer.from("\r\n\r\n");
const BEGINNING = "HTTP/1.";
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIRST_CAPACITY = 1024;

/**
 * Finds the end of a head that arrives in pieces. Rejects an invalid head before it ends, so that the caller does not
 * wait for the rest. Scans each byte once.
 */
export class HeldHead {
  #held: Buffer | undefined;
  #length = 0;
  /** Number of bytes of heads since the last `reset`. */
  #total = 0;
  #text = "";

  /** The head that was completed last, without its empty line. */
  get text(): string {
    return this.#text;
  }

  /** Consumes bytes starting at `at`. Returns the position in them where the head ends; -1 if it is not complete. */
  take(chunk: Buffer, at: number): number {
    if (this.#length > 0) return this.#takeMore(chunk, at);
    const end = chunk.indexOf(HEAD_END, at);
    if (end === -1) {
      this.#hold(chunk, at, chunk.length);
      return -1;
    }
    this.#count(end + HEAD_END.length - at);
    this.#text = chunk.toString("latin1", at, end);
    return end + HEAD_END.length;
  }

  reset(): void {
    this.#held = undefined;
    this.#length = 0;
    this.#total = 0;
    this.#text = "";
  }

  #takeMore(chunk: Buffer, at: number): number {
    const before = this.#length;
    // Bytes above the limit are not searched, because a head must end within it.
    const end = Math.min(chunk.length, at + MAX_HEAD_BYTES - this.#total);
    this.#hold(chunk, at, end);
    const held = this.#held!.subarray(0, this.#length);
    const found = held.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1));
    if (found === -1) {
      if (end < chunk.length) throw tooLong();
      return -1;
    }
    this.#text = held.toString("latin1", 0, found);
    this.#length = 0;
    const past = before + (end - at) - (found + HEAD_END.length);
    this.#total -= past;
    return end - past;
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    this.#count(to - from);
    const length = this.#length + to - from;
    if (!this.#held || this.#held.length < length) this.#grow(length);
    chunk.copy(this.#held!, this.#length, from, to);
    const before = this.#length;
    this.#length = length;
    this.#assertPossible(before);
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, 2 ** Math.ceil(Math.log2(length))));
    this.#held?.copy(larger, 0, 0, this.#length);
    this.#held = larger;
  }

  #count(bytes: number): void {
    this.#total += bytes;
    if (this.#total > MAX_HEAD_BYTES) throw tooLong();
  }

  #assertPossible(from: number): void {
    const held = this.#held!.subarray(0, this.#length);
    if (from < BEGINNING.length && !BEGINNING.startsWith(held.toString("latin1", 0, BEGINNING.length)))
      throw notHttp("it does not begin as one");
    const end = held.indexOf(HEAD_END, Math.max(0, from - HEAD_END.length + 1));
    const last = end === -1 ? held.length : end;
    for (let at = held.indexOf(LINE_FEED, from); at !== -1 && at < last; at = held.indexOf(LINE_FEED, at + 1))
      if (held[at - 1] !== CARRIAGE_RETURN) throw notHttp("a line of its head ends in a bare line feed");
  }
}

function tooLong(): Error {
  return notHttp(`its head is over the limit of ${MAX_HEAD_BYTES} bytes`);
}
