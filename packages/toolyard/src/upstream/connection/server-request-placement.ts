import type { Call } from "../../core/calls/call.ts";
import { clientKey } from "./calls-in-flight.ts";

/** A question that waits for its caller to be found. */
export interface UnplacedRequest {
  /** Calls that were under way when it came and are still: one of them asked. */
  readonly calls: ReadonlySet<Call>;
  /** It waited long enough; it goes to whom it most likely belongs. */
  readonly isOverdue: boolean;
}

export interface Scene {
  /** Whether a client only waits for people. */
  hasYielded(key: string): boolean;
  /** Questions that a client has to answer. */
  questionsOf(key: string): number;
  /** Whether a question was put by this call already. */
  hasQuestion(call: Call): boolean;
  /** Whether the server reported progress of this call: it works, and does not wait for an answer. */
  hasSpoken(call: Call): boolean;
  /** No question came for a moment. */
  readonly isQuiet: boolean;
}

export type Placement =
  | { readonly type: "to"; readonly call: Call }
  | { readonly type: "refused"; readonly why: "nobody" | "several-principals" }
  | { readonly type: "wait" };

/**
 * Whose each of these questions is. Who only waits for people does not ask, and who asks does not end; so a question
 * that could be of several clients waits until one is left. When only askers are left it goes to the likeliest of them,
 * and to nobody where they are of several principals.
 */
export function placeQuestions(unplaced: readonly UnplacedRequest[], scene: Scene): Placement[] {
  const running = new Set(unplaced.flatMap(({ calls }) => askersAmong(calls, scene)));
  const clients = new Set(Array.from(running, clientKey));
  const open = Array.from(clients, (key) => scene.questionsOf(key)).reduce((sum, count) => sum + count, 0);
  const onlyAskersAreLeft = scene.isQuiet && open + unplaced.length >= running.size;
  return unplaced.map(({ calls, isOverdue }, at) => {
    const askers = askersAmong(calls, scene);
    if (askers.length === 0) return { type: "refused", why: "nobody" };
    // Which of its calls puts the question matters to a client, too: it may wait for that one, or give up what came
    // with it.
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

/** The calls that may ask; when all of them only wait for people, one of them asks all the same. */
function askersAmong(calls: ReadonlySet<Call>, { hasYielded }: Scene): Call[] {
  const all = Array.from(calls);
  const running = all.filter((call) => !hasYielded(clientKey(call)));
  return running.length > 0 ? running : all;
}

/**
 * The latest call that has no question yet and did not speak. Several questions mostly come in the order of their
 * calls.
 */
function likeliest(askers: readonly Call[], fromLast: number, { hasQuestion, hasSpoken }: Scene): Call {
  const free = askers.filter((call) => !hasQuestion(call));
  const silent = free.filter((call) => !hasSpoken(call));
  const pool = silent.length > 0 ? silent : free.length > 0 ? free : askers;
  return pool[Math.max(0, pool.length - 1 - fromLast)]!;
}
