/** How long one slice of work holds the event loop, in milliseconds; its last step may take it further. */
const SLICE_MS = 8;

/**
 * Does work step by step, and lets everything else in between. Returns nothing where the first slice was enough;
 * otherwise resolves with the end of the work, or rejects with what a later step throws.
 */
export function inSlices(steps: Iterator<unknown, void>): Promise<void> | undefined {
  return oneSlice(steps) ? undefined : goOn(steps);
}

async function goOn(steps: Iterator<unknown, void>): Promise<void> {
  do await ownTurn(true);
  while (!oneSlice(steps));
}

/**
 * As `inSlices`, for work in the background, which keeps no process alive and begins in a turn of its own, behind what
 * its asker does: resolves with what the steps come to, or with undefined once they are no longer wanted.
 */
export async function whileWanted<T>(steps: Iterator<unknown, T>, isWanted: () => boolean): Promise<T | undefined> {
  for (await ownTurn(false); isWanted(); await ownTurn(false)) {
    const end = oneSlice(steps);
    if (end) return end.value;
  }
  return undefined;
}

/** The end of the work, if this slice came to it. */
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

/** Works that are cut into slices take turns: however many there are, one of them has one slice in each turn. */
function ownTurn(keepsAlive: boolean): Promise<void> {
  return new Promise((begin) => {
    waiting.push({ keepsAlive, begin });
    arm();
  });
}

// An immediate that keeps nothing alive does not wake a loop that has nothing to do either; a timer does.
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
