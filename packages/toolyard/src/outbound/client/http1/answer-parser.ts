import { LastRead } from "../../../core/timing/last-read.ts";
import { ChunkedBody } from "./chunked-body.ts";
import { notHttp } from "./fault.ts";
import { parseHead, type ResponseHead } from "./head.ts";
import { HeldHead } from "./held-head.ts";

/** Hears of one answer in the order in which it comes; its end is `isOver`. */
export interface AnswerListener {
  onInterim(): void;
  onHead(head: ResponseHead): void;
  /** The bytes are the reader's own only until this returns. */
  onData(data: Buffer): void;
}

/** Answers of 100 to 199 before the one that counts. */
const MAX_INTERIM_ANSWERS = 16;

type ParserState = "head" | "length" | "chunks" | "until-end" | "over";

/**
 * Reads one answer after the other, cut wherever the network cuts them. Strict: what does not follow the standard to
 * the letter is refused, since the next reader of the same bytes might see another answer in them. Everything is
 * bounded but the body, which is its reader's to bound.
 */
export class AnswerParser {
  readonly #listener: AnswerListener;
  readonly #head = new HeldHead();
  readonly #chunks = new ChunkedBody();
  readonly #onChunkData: (data: Buffer) => void;
  #part: ParserState = "head";
  #left = 0;
  #interim = 0;
  /** Most answers of a server have the same head until its clock reaches the next second. */
  readonly #heads = new LastRead(parseHead);

  constructor(listener: AnswerListener) {
    this.#listener = listener;
    this.#onChunkData = (data) => listener.onData(data);
  }

  /** The answer is complete; nothing more belongs to it. */
  get isOver(): boolean {
    return this.#part === "over";
  }

  /** Makes ready for the next answer. */
  reset(): void {
    this.#part = "head";
    this.#left = 0;
    this.#interim = 0;
    this.#head.reset();
    this.#chunks.reset();
  }

  /** From here on nothing is heard any more. */
  stop(): void {
    this.#part = "over";
  }

  /**
   * Returns how many of the bytes belong to the answer: fewer than there are once it is over. Those of chunks are moved
   * about. Throws a fault.
   */
  feed(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && !this.isOver) at = this.#take(bytes, at);
    return at;
  }

  /**
   * Called at the end of the connection. Returns whether that completes the answer, as for an answer without a length.
   */
  endsHere(): boolean {
    if (this.#part === "until-end") this.#part = "over";
    return this.isOver;
  }

  #take(bytes: Buffer, at: number): number {
    if (this.#part === "head") return this.#takeHead(bytes, at);
    if (this.#part === "chunks") {
      const end = this.#chunks.take(bytes, at, this.#onChunkData);
      if (this.#chunks.isOver) this.#part = "over";
      return end;
    }
    const end = this.#part === "length" ? Math.min(bytes.length, at + this.#left) : bytes.length;
    this.#left -= end - at;
    if (this.#part === "length" && this.#left === 0) this.#part = "over";
    this.#listener.onData(bytes.subarray(at, end));
    return end;
  }

  #takeHead(bytes: Buffer, at: number): number {
    const end = this.#head.take(bytes, at);
    if (end === -1) return bytes.length;
    const head = this.#heads.of(this.#head.text);
    if (head.status < 200) this.#onInterim(head);
    else {
      this.#part = PART_AFTER[head.framing];
      this.#left = head.length;
      this.#listener.onHead(head);
    }
    return end;
  }

  #onInterim({ status }: ResponseHead): void {
    this.#interim += 1;
    if (status === 101) throw notHttp("it changes to a protocol that was not requested");
    if (this.#interim > MAX_INTERIM_ANSWERS) throw notHttp("too many interim answers come before it");
    this.#listener.onInterim();
  }
}

const PART_AFTER = { none: "over", length: "length", chunked: "chunks", "until-end": "until-end" } as const;
