import type { AdmittedCaller, Authentication, Authenticator, Credentials } from "../../../core/ports/authenticator.ts";
import type { Channel } from "./channel.ts";
import { FRAME } from "./frames.ts";

/** Request of a worker to the primary for the principal of a caller. */
export interface CallerQuestion {
  /** Authorization header. Empty if the request has none. */
  readonly authorization: string;
  readonly mount: string;
}

interface KnownCaller {
  readonly answer: Authentication;
  /** Time after which the primary must be asked again, in milliseconds since 1970. */
  readonly untilMs: number;
}

/** Maximum number of callers that one worker caches. The oldest is removed. */
const MAX_KNOWN = 1000;

/**
 * Asks the primary for the principal of a caller, once per `Authorization` while the result is valid. So the worker has
 * no tokens and cannot check them. Refusals are not cached.
 */
export class RemoteAuthenticator implements Authenticator {
  readonly #channel: Channel;
  readonly #known = new Map<string, KnownCaller>();
  readonly #asked = new Map<number, (answer: Authentication) => void>();
  readonly #underWay = new Map<string, Promise<Authentication>>();
  #lastQuestion = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  authenticate(credentials: Credentials, mount = ""): Authentication | Promise<Authentication> {
    const authorization = credentials.header("authorization") ?? "";
    const known = this.#known.get(authorization);
    if (known && (known.untilMs === Infinity || known.untilMs > Date.now())) return known.answer;
    const key = `${mount}\n${authorization}`;
    return this.#underWay.get(key) ?? this.#ask({ authorization, mount }, key);
  }

  /** Handles the answer of the primary. */
  answered(question: number, answer: Authentication): void {
    this.#asked.get(question)?.(answer);
    this.#asked.delete(question);
  }

  async #ask(asked: CallerQuestion, key: string): Promise<Authentication> {
    this.#lastQuestion = (this.#lastQuestion + 1) >>> 0;
    const question = this.#lastQuestion;
    const answering = new Promise<Authentication>((resolve) => this.#asked.set(question, resolve));
    this.#underWay.set(key, answering);
    this.#channel.sendHead(FRAME.who, question, JSON.stringify(asked));
    const answer = await answering;
    this.#underWay.delete(key);
    if (answer.admitted) this.#remember(asked.authorization, answer);
    else this.#known.delete(asked.authorization);
    return answer;
  }

  #remember(authorization: string, answer: AdmittedCaller): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    const { keepMs = Infinity, untilMs = Infinity } = answer;
    this.#known.set(authorization, { answer, untilMs: Math.min(Date.now() + keepMs, untilMs) });
  }
}
