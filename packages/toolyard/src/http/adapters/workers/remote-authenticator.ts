import type { Authentication, Authenticator, Credentials } from "../../../core/ports/authenticator.ts";
import type { Channel } from "./channel.ts";
import { FRAME } from "./frames.ts";

/** Most callers that one worker remembers; the oldest is dropped. */
const MAX_KNOWN = 1000;

/**
 * Asks the primary who a caller is, once per `Authorization`, so that the worker has no token and no way to check one.
 * A refused caller is asked about again.
 */
export class RemoteAuthenticator implements Authenticator {
  readonly #channel: Channel;
  readonly #known = new Map<string, Authentication>();
  readonly #asked = new Map<number, (answer: Authentication) => void>();
  readonly #underWay = new Map<string, Promise<Authentication>>();
  #lastQuestion = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  authenticate(credentials: Credentials): Authentication | Promise<Authentication> {
    const authorization = credentials.header("authorization") ?? "";
    return this.#known.get(authorization) ?? this.#underWay.get(authorization) ?? this.#ask(authorization);
  }

  /** Handles the primary's answer. */
  answered(question: number, answer: Authentication): void {
    this.#asked.get(question)?.(answer);
    this.#asked.delete(question);
  }

  async #ask(authorization: string): Promise<Authentication> {
    this.#lastQuestion = (this.#lastQuestion + 1) >>> 0;
    const question = this.#lastQuestion;
    const answering = new Promise<Authentication>((resolve) => this.#asked.set(question, resolve));
    this.#underWay.set(authorization, answering);
    this.#channel.sendHead(FRAME.who, question, JSON.stringify(authorization));
    const answer = await answering;
    this.#underWay.delete(authorization);
    if (answer.admitted) this.#remember(authorization, answer);
    return answer;
  }

  #remember(authorization: string, answer: Authentication): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(authorization, answer);
  }
}
