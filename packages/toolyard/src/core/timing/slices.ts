/** Maximum milliseconds for which one slice of work blocks the event loop. The last step of a slice may exceed it. */
const SLICE_MS = 8;

/**
 * Does work in steps, and lets other work run between slices of steps. Returns `undefined` if the first slice was
 * enough. Otherwise returns a promise that resolves at the end of the work, or rejects with the error of a later step.
 */
export function inSlices(steps: Iterator<unknown, void>): Promise<void> | undefined {
  return oneSlice(steps) ? undefined : goOn(steps);
}

async function goOn(steps: Iterator<unknown, void>): Promise<void> {
  do await nextTurn(true);
  while (!oneSlice(steps));
}

/**
 * Does work in slices like `inSlices`, in the background: it does not keep the process alive and starts in a later turn
 * of the event loop. Resolves with the result of the steps, or with `undefined` when the result is no longer needed.
 */
export async function inBackgroundSlices<T>(
  steps: Iterator<unknown, T>,
  isWanted: () => boolean,
): Promise<T | undefined> {
  for (await nextTurn(false); isWanted(); await nextTurn(false)) {
    const end = oneSlice(steps);
    if (end) return end.value;
  }
  return undefined;
}

/** Runs one slice. Returns the result of the work if the slice finished it, otherwise `undefined`. */
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

/** Waits for a turn of the event loop. All work in slices shares one slice per turn. */
function nextTurn(keepsAlive: boolean): Promise<void> {
  return new Promise((begin) => {
    waiting.push({ keepsAlive, begin });
    arm();
  });
}

// An unreferenced immediate does not wake an idle event loop; a timer does.
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
