import type { Stage } from "./state.ts";

/** Stages of the pipeline, the outermost first. */
export type StageName =
  | "record"
  | "deadline"
  | "resolve"
  | "authorise"
  | "validate"
  | "admit"
  | "guard"
  | "normalise"
  | "execute";

/**
 * Stages with a timed start, in their order. Each stage ends when the next one starts. In the times of a call, index
 * 0 is the start of the call, and the last index is the answer of the provider.
 */
export const TIMED: readonly StageName[] = ["authorise", "validate", "admit", "guard", "normalise"];
export const ANSWER_TIME = TIMED.length + 1;

/** Returns the index of the stage in the times of a call, or 0 if the stage is not timed. */
export function timeIndexOf(stage: StageName): number {
  return TIMED.indexOf(stage) + 1;
}

/** Stage of a feature. It runs directly inside the stage `after`, and is loaded by the first call. */
export interface StagePlace {
  readonly after: Exclude<StageName, "execute">;
  readonly load: () => Promise<Stage>;
}
