const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Exit code of a process that was interrupted a second time, before it ended gracefully. */
const FORCED_EXIT = 130;
/**
 * Time in which repeated signals count as one: a terminal signals the whole process group, and a parent such as npm
 * forwards the signal.
 */
const SAME_SIGNAL_MS = 500;

/**
 * Returns a signal that aborts at the first SIGINT or SIGTERM. A later one ends the process immediately and kills its
 * children.
 */
export function watchInterrupts(): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    const claim = signal === "SIGINT" ? claims.at(-1) : undefined;
    if (claim) return claim();
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

const claims: (() => void)[] = [];

/**
 * Redirects Ctrl+C to `run` instead of the signal of `watchInterrupts`. SIGTERM still ends the command. Returns a
 * function that ends the redirection.
 */
export function claimInterrupts(run: () => void): () => void {
  claims.push(run);
  return () => void claims.splice(claims.indexOf(run), 1);
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener("abort", () => done(), { once: true });
  });
}
