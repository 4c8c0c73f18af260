import type { StagePlace } from "../../../pipeline/stage-place.ts";
import type { CallRecorder } from "./call-recorder.ts";

/** Returns the stage from which on a call's stages are timed, once the recorder is in use. */
export function timingStage(recorder: Pick<CallRecorder, "isInUse">): StagePlace {
  return {
    after: "record",
    load: async () => (state, next) => {
      if (recorder.isInUse) state.times = [performance.now()];
      return next(state);
    },
  };
}
