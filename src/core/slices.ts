import { setImmediate as nextTurn } from "node:timers/promises";

/** How long one slice of work holds the event loop, in milliseconds; its last step may take it further. */
const SLICE_MS = 8;

/**
 * Does work step by step, and lets everything else in between. Returns nothing where the first slice was enough;
 * otherwise resolves with the end of the work, or rejects with what a later step throws.
 */
export function inSlices(steps: Iterator<unknown, void>): Promise<void> | undefined {
  return didSlice(steps) ? undefined : goOn(steps);
}

async function goOn(steps: Iterator<unknown, void>): Promise<void> {
  do await nextTurn();
  while (!didSlice(steps));
}

function didSlice(steps: Iterator<unknown, void>): boolean {
  const endsAt = performance.now() + SLICE_MS;
  do if (steps.next().done) return true;
  while (performance.now() < endsAt);
  return false;
}
