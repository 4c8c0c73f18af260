import type { Cancellation } from "../../core/calls/cancellation.ts";
import { MAX_TIMER_MS } from "../../core/calls/deadline.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import { discard } from "./body.ts";
import type { HttpResponse, Sender } from "./sender.ts";

/** One request, or one of those that a redirect makes of it. */
export interface RequestStep {
  readonly url: URL;
  readonly method: "GET" | "POST" | "DELETE";
  readonly body: string | undefined;
}

/** Properties of a request that also apply to its redirects. */
export interface RequestSettings {
  readonly signal: Cancellation;
  /** Bound of silence, before the headers and between two chunks; 0 for none. */
  readonly idleMs: number;
  /** Caller with the share of the connections that it uses. @default the hub's own */
  readonly caller?: Caller | undefined;
  /** As in `Outgoing`. */
  readonly isMessage?: boolean | undefined;
}

/** A client's rules for its requests, made once. Every method may throw a `FailError`. */
export interface RequestRoute<S extends RequestSettings> {
  /** Statuses of which `Location` is followed. */
  readonly redirects: ReadonlySet<number>;
  /** Returns the sender without a promise if it is known already. */
  connect(url: URL, sending: S): Sender | Promise<Sender>;
  /** Returns origin and path. Results for the same URL are cached. */
  targetOf(url: URL): { readonly origin: string; readonly path: string };
  /** The result must not be modified. */
  headersFor(url: URL, sending: S): Readonly<Record<string, string>>;
  /** Returns the target of a redirect, or the reason why it is not followed. */
  follow(redirect: Redirect, sending: S): RequestStep;
  toFailure(error: unknown, sending: S): Error;
}

export interface Redirect {
  readonly from: RequestStep;
  readonly status: number;
  readonly location: string;
  /** How many were followed before. */
  readonly followed: number;
}

export const MAX_REDIRECTS = 3;

/** Asks, and follows where the route lets it. Resolves with the headers' arrival. */
export async function exchange<S extends RequestSettings>(
  first: RequestStep,
  sending: S,
  route: RequestRoute<S>,
): Promise<HttpResponse> {
  let step = first;
  for (let followed = 0; ; followed += 1) {
    let response: HttpResponse;
    try {
      response = await send(step, sending, route);
    } catch (error) {
      throw route.toFailure(error, sending);
    }
    const { status } = response;
    const location = route.redirects.has(status) ? response.header("location") : undefined;
    if (location === undefined) return response;
    discard(response.body);
    step = route.follow({ from: step, status, location, followed }, sending);
  }
}

/** Throws what `toFailure` puts into words, or rejects with it. */
function send<S extends RequestSettings>(step: RequestStep, sending: S, route: RequestRoute<S>): Promise<HttpResponse> {
  const { signal, idleMs, caller, isMessage } = sending;
  signal.throwIfAborted();
  const sendBy = (sender: Sender): Promise<HttpResponse> => {
    const { origin, path } = route.targetOf(step.url);
    const { method, body } = step;
    const headers = route.headersFor(step.url, sending);
    const silenceMs = Math.min(idleMs, MAX_TIMER_MS);
    return sender.send({ origin, path, method, headers, body, silenceMs, caller, isMessage }, signal);
  };
  const known = route.connect(step.url, sending);
  return known instanceof Promise ? known.then(sendBy) : sendBy(known);
}

export function targetOf(url: URL): { readonly origin: string; readonly path: string } {
  return { origin: url.origin, path: `${url.pathname}${url.search}` };
}
