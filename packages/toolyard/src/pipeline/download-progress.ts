import type { PipelineDeps } from "./ports.ts";
import type { CallState } from "./state.ts";

/** Milliseconds between two progress notifications of a call that waits for a download. */
const PERIOD_MS = 5000;
/** Step of the hub's progress values. They stay far below those of tools, which may start at any number above 0. */
const STEP = 1e-6;

/**
 * Sends progress notifications to the caller while the call waits for the download of its server. Stops when the tool
 * itself reports progress. The returned function ends the reports. Only for callers that request progress.
 */
export function reportDownload(state: CallState, waitsFor: NonNullable<PipelineDeps["waitsFor"]>): () => void {
  let steps = 0;
  const timer = setInterval(() => {
    if (state.hasToolProgress) return clearInterval(timer);
    const message = waitsFor(state.call, state.isResolved ? state.found.provider : undefined);
    if (message === undefined) return;
    steps += 1;
    state.hubProgress = steps * STEP;
    state.call.notify({ method: "notifications/progress", params: { progress: state.hubProgress, message } });
  }, PERIOD_MS);
  timer.unref();
  return () => clearInterval(timer);
}
