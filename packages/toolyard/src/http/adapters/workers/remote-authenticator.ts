import type { AdmittedCaller, Authentication, Authenticator, Credentials } from "../../../core/ports/authenticator.ts";
import type { Channel } from "./channel.ts";
import { FRAME } from "./frames.ts";

/** Request of a worker to the primary for the principal of a caller. */
export interface CallerQuestion {
  /** Authorization header. Empty if the request has none. */
  readonly authorization: string;
  readonly mount: string;
  /** Proof of a key that the request contains, with the request that it must name. */
  readonly proven?: { readonly proof: string; readonly method: string; readonly target: string };
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
    const proof = credentials.header("dpop");
    const { method, target } = credentials;
    // Each proof is valid once, so a request with a proof does not share the answer for another request.
    if (proof !== undefined && method !== undefined && target !== undefined)
      return this.#ask({ authorization, mount, proven: { proof, method, target } });
    const key = `${mount}\n${authorization}`;
    return this.#underWay.get(key) ?? this.#askOnce({ authorization, mount }, key);
  }

  /** Handles the answer of the primary. */
  answered(question: number, answer: Authentication): void {
    this.#asked.get(question)?.(answer);
    this.#asked.delete(question);
  }

  #askOnce(asked: CallerQuestion, key: string): Promise<Authentication> {
    const answering = this.#ask(asked).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, answering);
    return answering;
  }

  async #ask(asked: CallerQuestion): Promise<Authentication> {
    this.#lastQuestion = (this.#lastQuestion + 1) >>> 0;
    const question = this.#lastQuestion;
    const answering = new Promise<Authentication>((resolve) => this.#asked.set(question, resolve));
    this.#channel.sendHead(FRAME.who, question, JSON.stringify(asked));
    const answer = await answering;
    if (answer.admitted) this.#remember(asked.authorization, answer);
    else this.#known.delete(asked.authorization);
    return answer;
  }

  #remember(authorization: string, answer: AdmittedCaller): void {
    const { keepMs = Infinity, untilMs = Infinity } = answer;
    if (keepMs <= 0) return;
    if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(authorization, { answer, untilMs: Math.min(Date.now() + keepMs, untilMs) });
  }
}
