import type { Cancellation } from "../../core/calls/cancellation.ts";
import { MAX_TIMER_MS } from "../../core/calls/deadline.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import { discard } from "./body.ts";
import type { HttpResponse, Sender } from "./sender.ts";

/** One request of an exchange: the original, or one that follows a redirect. */
export interface RequestStep {
  readonly url: URL;
  readonly method: "GET" | "POST" | "DELETE";
  readonly body: string | Uint8Array | undefined;
}

/** Properties of a request that also apply to its redirects. */
export interface RequestSettings {
  readonly signal: Cancellation;
  /** Maximum inactivity in milliseconds, before the headers and between two chunks; 0: no limit. */
  readonly idleMs: number;
  /** Caller whose share of the connections is used. @default the hub's own share */
  readonly caller?: Caller | undefined;
  /** See `TransportRequest.isMessage`. */
  readonly isMessage?: boolean | undefined;
}

/** A client's rules for its requests. One object serves all of them. Every method may throw a `FailError`. */
export interface RequestRoute<S extends RequestSettings> {
  /** Statuses whose `Location` is followed. */
  readonly redirects: ReadonlySet<number>;
  /** Returns the sender: synchronously if it is already open, otherwise as a promise. */
  connect(url: URL, sending: S): Sender | Promise<Sender>;
  /** Returns the origin and the path of a URL. Results are cached by the URL object. */
  targetOf(url: URL): { readonly origin: string; readonly path: string };
  /** Returns the headers of a request. The result must not be modified. */
  headersFor(url: URL, sending: S): Readonly<Record<string, string>>;
  /** Returns the target of a redirect, or the reason why it is not followed. */
  follow(redirect: Redirect, sending: S): RequestStep;
  toFailure(error: unknown, sending: S): Error;
}

export interface Redirect {
  readonly from: RequestStep;
  readonly status: number;
  readonly location: string;
  /** Number of redirects followed before. */
  readonly followed: number;
}

export const MAX_REDIRECTS = 3;

/** Sends a request and follows the redirects that the route allows. Resolves when the headers arrive. */
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

/** Sends one request. Throws, or rejects with, an error that `toFailure` converts. */
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
