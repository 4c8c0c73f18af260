import type { Call } from "../../core/calls/call.ts";
import { clientKey } from "./turns.ts";

/** A server request whose caller has not been found yet. */
export interface UnplacedRequest {
  /** Calls that have been in flight since the request arrived. One of them caused the request. */
  readonly calls: ReadonlySet<Call>;
  /** True if the request has waited up to the limit. It is then sent to the most likely caller. */
  readonly isOverdue: boolean;
}

export interface Scene {
  /** Returns whether all calls of this client only wait for answers of users. */
  hasYielded(key: string): boolean;
  /** Returns the number of server requests that a client must answer. */
  questionsOf(key: string): number;
  /** Returns whether this call already carries a server request. */
  hasQuestion(call: Call): boolean;
  /** Returns whether the server has reported progress of this call, so the call is not waiting for an answer. */
  hasSpoken(call: Call): boolean;
  /** True if no server request has arrived for a short time. */
  readonly isQuiet: boolean;
}

export type Placement =
  | { readonly type: "to"; readonly call: Call }
  | { readonly type: "refused"; readonly why: "nobody" | "several-principals" }
  | { readonly type: "wait" };

/**
 * Assigns each of these server requests to a call. A request with several possible clients waits until only one of them
 * is left. Clients that only wait for users do not count, because they cause no requests. If only calls that wait for
 * answers are left, the request goes to the most likely call, or to none if the calls belong to several principals.
 */
export function placeQuestions(unplaced: readonly UnplacedRequest[], scene: Scene): Placement[] {
  const running = new Set(unplaced.flatMap(({ calls }) => askersAmong(calls, scene)));
  const clients = new Set(Array.from(running, clientKey));
  const open = Array.from(clients, (key) => scene.questionsOf(key)).reduce((sum, count) => sum + count, 0);
  const onlyAskersAreLeft = scene.isQuiet && open + unplaced.length >= running.size;
  return unplaced.map(({ calls, isOverdue }, at) => {
    const askers = askersAmong(calls, scene);
    if (askers.length === 0) return { type: "refused", why: "nobody" };
    // The right call matters even within one client: the client may wait for that call, or may cancel requests that
    // arrived with another one.
    const mayBePlaced = isOverdue || askers.length === 1 || (isOneClient(askers) ? scene.isQuiet : onlyAskersAreLeft);
    if (!mayBePlaced) return { type: "wait" };
    if (new Set(askers.map(({ principal }) => principal.id)).size > 1)
      return { type: "refused", why: "several-principals" };
    return { type: "to", call: likeliest(askers, unplaced.length - 1 - at, scene) };
  });
}

function isOneClient(calls: readonly Call[]): boolean {
  return new Set(calls.map(clientKey)).size === 1;
}

/**
 * Returns the calls that may have caused a request. If all clients only wait for users, every call may have caused it.
 */
function askersAmong(calls: ReadonlySet<Call>, { hasYielded }: Scene): Call[] {
  const all = Array.from(calls);
  const running = all.filter((call) => !hasYielded(clientKey(call)));
  return running.length > 0 ? running : all;
}

/**
 * Returns the latest call without a server request and without progress. Several requests usually arrive in the order
 * of their calls.
 */
function likeliest(askers: readonly Call[], fromLast: number, { hasQuestion, hasSpoken }: Scene): Call {
  const free = askers.filter((call) => !hasQuestion(call));
  const silent = free.filter((call) => !hasSpoken(call));
  const pool = silent.length > 0 ? silent : free.length > 0 ? free : askers;
  return pool[Math.max(0, pool.length - 1 - fromLast)]!;
}
