import type { Stage } from "../../../pipeline/state.ts";
import type { CallRecording } from "../parts.ts";

/**
 * Returns a pipeline stage that times the following stages of each call while calls are recorded. Loads the recorder.
 */
export async function timingStage(recording: CallRecording): Promise<Stage> {
  await recording.recorder.get();
  return (state, next) => {
    if (recording.isInUse) state.times = [performance.now()];
    return next(state);
  };
}
