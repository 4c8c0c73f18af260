import { isAscii } from "node:buffer";
import { FRAME, type WorkerFrame } from "../adapters/workers/frames.ts";
import type { WorkerAnswerHead } from "../adapters/workers/messages.ts";
import type { HttpExchange } from "../exchange.ts";
import type { RawHeaders } from "../wire.ts";
import { answerHeaders, RELAY_HEADER, RELAYED } from "./relayed-headers.ts";

/**
 * Result of passing a request to another hub.
 *
 * - `answered`: that hub has answered, or the caller disconnected.
 * - `absent`: that hub does not have the session or call.
 * - `unsent`: the request did not reach the hub, so it was not executed.
 * - `gone`: the hub does not exist any more, and the request was not executed.
 * - `lost`: the hub stopped answering after it may have started to execute the request.
 */
export type ForwardResult = "answered" | "absent" | "unsent" | "gone" | "lost";

/** Head of an answer of another hub. */
export interface AnswerHead {
  readonly status: number;
  /** Value of `RELAY_HEADER`, a member of `RELAYED`. Undefined if the answer lacks the header. */
  readonly treatment: string | undefined;
  /** Headers for the caller. */
  readonly headers: RawHeaders;
}

/** Sender of the frames of an answer. */
export interface AnswerSource {
  /** Parses the head of an answer. */
  readonly readHead: (text: string) => AnswerHead;
  /** Reports that the caller has read this number of bytes of the answer. */
  readonly taken: (exchange: number, bytes: number) => void;
  /** Ends the request at the other hub. */
  readonly gone: (exchange: number) => void;
}

/** Maximum number of bytes of an answer's body that is written to the caller together with the head. */
const MAX_JOINED_BYTES = 16 * 1024;

export function readAnswerHead(text: string): AnswerHead {
  const { status, headers } = JSON.parse(text) as WorkerAnswerHead;
  const treatment = headers[RELAY_HEADER];
  return {
    status,
    treatment: typeof treatment === "string" ? treatment : undefined,
    headers: answerHeaders(headers),
  };
}

/** One request that another hub answers. Passes the answer to the caller. */
export class Forwarding {
  readonly http: HttpExchange;
  readonly result: Promise<ForwardResult>;
  #settle: (result: ForwardResult) => void = () => {};
  #hasHead = false;
  #isOver = false;

  /** `stop` ends the request at the other hub. It is called if the caller disconnects. */
  constructor(http: HttpExchange, stop: () => void) {
    this.http = http;
    this.result = new Promise((resolve) => (this.#settle = resolve));
    http.answer.onClosed(() => {
      if (!this.#isOver) stop();
      this.#isOver = true;
      this.#settle("answered");
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Passes a frame of the answer to the caller. Returns true after the last frame. */
  receive({ type, exchange, head, body }: WorkerFrame, source: AnswerSource): boolean {
    switch (type) {
      case FRAME.answer:
        this.#sendWhole(source.readHead(head), body);
        return true;
      case FRAME.begin:
        if (this.#open(source.readHead(head))) return false;
        source.gone(exchange);
        return true;
      case FRAME.piece: {
        // The body is part of a larger buffer, which a slow caller must not keep in memory.
        const piece = Buffer.from(body);
        this.http.answer.write(piece, () => source.taken(exchange, piece.length));
        return false;
      }
      case FRAME.end:
        this.#isOver = true;
        this.http.answer.end();
        return true;
      case FRAME.cut:
        this.fail("lost");
        return true;
      default:
        return false;
    }
  }

  /** Receives the head of the answer. Returns true if the body must be passed to the caller. */
  #begin({ status, treatment }: AnswerHead): boolean {
    if (treatment === RELAYED.answered) {
      this.#hasHead = true;
      this.#settle("answered");
      return !this.#isOver;
    }
    this.#isOver = true;
    this.#settle(treatment === RELAYED.absent ? "absent" : unreadResult(status));
    return false;
  }

  #sendWhole(head: AnswerHead, body: Buffer): void {
    if (!this.#begin(head)) return;
    this.#isOver = true;
    this.http.answer.send(head.status, head.headers, joinable(body));
  }

  /** Starts an answer of unknown length. Returns false if it is not for the caller. */
  #open(head: AnswerHead): boolean {
    if (!this.#begin(head)) return false;
    const { answer } = this.http;
    if (!answer.isOpen) return true;
    answer.begin(head.status, head.headers);
    answer.flush();
    return true;
  }

  /** Records that the other hub stopped answering. An answer that has started is cut, so that the caller notices. */
  fail(result: "unsent" | "gone" | "lost"): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#hasHead) this.http.answer.cut();
    this.#settle(result);
  }
}

/** Statuses with which a listener or a proxy refuses a request before the hub has begun to execute it. */
const REFUSED: ReadonlySet<number> = new Set([400, 403, 404, 405, 413, 414, 421, 431]);

/**
 * Returns the result of a request after an answer without `RELAY_HEADER`. A status that is not in `REFUSED` may come
 * from a proxy that lost the connection to the hub after the hub had begun.
 */
export function unreadResult(status: number): "unsent" | "lost" {
  return REFUSED.has(status) ? "unsent" : "lost";
}

/**
 * Returns a small ASCII body as a text, because a text is written together with the head of the answer. Returns any
 * other body as a copy.
 */
function joinable(body: Buffer): string | Buffer {
  return body.length <= MAX_JOINED_BYTES && isAscii(body) ? body.toString("latin1") : Buffer.from(body);
}
