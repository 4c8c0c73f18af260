import { LastRead } from "../../../core/timing/last-read.ts";
import { ChunkedBody } from "./chunked-body.ts";
import { notHttp } from "./fault.ts";
import { parseHead, type ResponseHead } from "./head.ts";
import { HeldHead } from "./held-head.ts";

/**
 * Receives the parts of one answer in order. The end of the answer is not reported here: `AnswerParser.isOver` is then
 * true.
 */
export interface AnswerListener {
  onInterim(): void;
  onHead(head: ResponseHead): void;
  /** Receives a part of the body. The bytes are valid only until this returns. */
  onData(data: Buffer): void;
}

/** Maximum number of answers with a status from 100 to 199 before the final one. */
const MAX_INTERIM_ANSWERS = 16;

type ParserState = "head" | "length" | "chunks" | "until-end" | "over";

/**
 * Parses consecutive answers from pieces of any length. Strict: any deviation from the standard is rejected, because
 * another parser might find a different answer in the same bytes. Limits the size of everything except the body, which
 * its reader limits.
 */
export class AnswerParser {
  readonly #listener: AnswerListener;
  readonly #head = new HeldHead();
  readonly #chunks = new ChunkedBody();
  readonly #onChunkData: (data: Buffer) => void;
  #part: ParserState = "head";
  #left = 0;
  #interim = 0;
  /**
   * Reuses the last parsed head: most answers of a server have the same head until its clock reaches the next second.
   */
  readonly #heads = new LastRead(parseHead);

  constructor(listener: AnswerListener) {
    this.#listener = listener;
    this.#onChunkData = (data) => listener.onData(data);
  }

  /** True if the answer is complete; nothing after it belongs to it. */
  get isOver(): boolean {
    return this.#part === "over";
  }

  /** Prepares for the next answer. */
  reset(): void {
    this.#part = "head";
    this.#left = 0;
    this.#interim = 0;
    this.#head.reset();
    this.#chunks.reset();
  }

  /** Stops calling the listener. */
  stop(): void {
    this.#part = "over";
  }

  /**
   * Parses bytes. Returns how many of them belong to the answer; fewer than were passed if the answer is complete.
   * Moves chunked data within `bytes`. Throws a fault.
   */
  feed(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && !this.isOver) at = this.#take(bytes, at);
    return at;
  }

  /**
   * Called at the end of the connection. Returns whether the end of the connection completes the answer, as for an
   * answer without a length.
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
