/** Longest time that one slice of work holds the event loop, in milliseconds; its last step may exceed it. */
const SLICE_MS = 8;

/**
 * Does work in steps and yields to other work between slices. Returns `undefined` if the first slice was enough;
 * otherwise resolves at the end of the work, or rejects with the error of a later step.
 */
export function inSlices(steps: Iterator<unknown, void>): Promise<void> | undefined {
  return oneSlice(steps) ? undefined : goOn(steps);
}

async function goOn(steps: Iterator<unknown, void>): Promise<void> {
  do await ownTurn(true);
  while (!oneSlice(steps));
}

/**
 * Like `inSlices`, for background work, which does not keep the process alive and starts in a later turn: resolves with
 * the result of the steps, or with undefined once they are no longer needed.
 */
export async function whileWanted<T>(steps: Iterator<unknown, T>, isWanted: () => boolean): Promise<T | undefined> {
  for (await ownTurn(false); isWanted(); await ownTurn(false)) {
    const end = oneSlice(steps);
    if (end) return end.value;
  }
  return undefined;
}

/** Returns the result of the work if this slice finished it. */
function oneSlice<T>(steps: Iterator<unknown, T>): IteratorReturnResult<T> | undefined {
  const endsAt = performance.now() + SLICE_MS;
  do {
    const step = steps.next();
    if (step.done === true) return step;
  } while (performance.now() < endsAt);
  return undefined;
}

interface QueuedSlice {
  readonly keepsAlive: boolean;
  readonly begin: () => void;
}

const waiting: QueuedSlice[] = [];
let next: NodeJS.Immediate | NodeJS.Timeout | undefined;

/** Sliced works take turns: with any number of works, one gets one slice in each turn. */
function ownTurn(keepsAlive: boolean): Promise<void> {
  return new Promise((begin) => {
    waiting.push({ keepsAlive, begin });
    arm();
  });
}

// An unreferenced immediate does not wake an idle loop; a timer does.
function arm(): void {
  if (waiting.length === 0) return;
  const keepsAlive = waiting.some((one) => one.keepsAlive);
  next ??= keepsAlive ? setImmediate(begin) : setTimeout(begin, 0);
  if (keepsAlive) next.ref();
  else next.unref();
}

function begin(): void {
  next = undefined;
  waiting.shift()!.begin();
  arm();
}
