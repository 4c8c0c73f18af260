import { KINDS } from "../../core/calls/kinds.ts";
import type { HttpAnswer } from "../../http/answer/answer.ts";
import { sendEmpty, sendJson } from "../../http/answer/send.ts";
import { RPC } from "../../wire/messages.ts";
import type { ReplyOutlet } from "../endpoint.ts";

/** Replies to the messages of one POST, sent together when the last reply is ready. */
export class CollectedReplies implements ReplyOutlet {
  readonly isShared = false;
  readonly #answer: HttpAnswer;
  readonly #texts: string[] = [];
  #status = 200;

  constructor(answer: HttpAnswer) {
    this.#answer = answer;
  }

  /** False, because a plain response cannot carry server requests. */
  get reachable(): boolean {
    return false;
  }

  reply(text: string, error?: Parameters<ReplyOutlet["reply"]>[1]): void {
    this.#texts.push(text);
    if (error?.requiredScopes) this.#answer.requireScopes(error.requiredScopes);
    if (error) this.#status = error.kind ? KINDS[error.kind].http : statusOfCode(error.code);
  }

  /** Drops a notification, because a plain response cannot carry it. */
  note(): void {}

  /** A batch has the status 200, because each reply reports its own success or error. */
  send(isBatch: boolean): void {
    if (this.#texts.length === 0) return sendEmpty(this.#answer, 202);
    if (isBatch) return sendJson(this.#answer, 200, `[${this.#texts.join(",")}]`);
    sendJson(this.#answer, this.#status, this.#texts[0]!);
  }
}

/**
 * Returns the HTTP status of an error code (C7): 400 for errors of the caller, 404 for missing things, 500 for all
 * others.
 */
function statusOfCode(code: number): number {
  if (code === RPC.methodNotFound || code === RPC.resourceNotFound) return 404;
  return code === RPC.parse || code === RPC.invalidRequest || code === RPC.invalidParams ? 400 : 500;
}
