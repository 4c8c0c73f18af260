const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Exit code of a program that was interrupted before it could end in order. */
const FORCED_EXIT = 130;
/** A terminal tells the whole process group, and a parent such as npm hands the same signal on once more. */
const SAME_SIGNAL_MS = 500;

/** Aborts at the first SIGINT or SIGTERM. A later one ends the process at once, which kills its children too. */
export function watchInterrupts(): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  const onSignal = (): void => {
    const now = performance.now();
    if (!controller.signal.aborted) {
      first = now;
      controller.abort(new Error("Interrupted."));
    } else if (now - first > SAME_SIGNAL_MS) {
      process.exit(FORCED_EXIT);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return controller.signal;
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener("abort", () => done(), { once: true });
  });
}
