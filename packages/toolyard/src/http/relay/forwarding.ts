import type { HttpExchange } from "../exchange.ts";
import type { RawHeaders, RequestHeaders } from "../wire.ts";
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

export function readAnswerHead(status: number, headers: RequestHeaders): AnswerHead {
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

  /** Receives the head of the other hub's answer. Returns true if the body must be passed to the caller. */
  begin({ status, treatment }: AnswerHead): boolean {
    if (treatment === RELAYED.answered) {
      this.#hasHead = true;
      this.#settle("answered");
      return !this.#isOver;
    }
    this.#isOver = true;
    this.#settle(treatment === RELAYED.absent ? "absent" : unreadResult(status));
    return false;
  }

  /** Sends a whole answer. */
  send({ status, headers }: AnswerHead, body: string | Uint8Array): void {
    this.#isOver = true;
    this.http.answer.send(status, headers, body);
  }

  /** Starts an answer of unknown length. */
  open({ status, headers }: AnswerHead): void {
    if (!this.http.answer.isOpen) return;
    this.http.answer.begin(status, headers);
    this.http.answer.flush();
  }

  end(): void {
    this.#isOver = true;
    this.http.answer.end();
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
function unreadResult(status: number): ForwardResult {
  return REFUSED.has(status) ? "unsent" : "lost";
}
