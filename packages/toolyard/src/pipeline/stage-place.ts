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

/** Stage of a feature. It runs directly inside the stage `after`, and is loaded by the first call. */
export interface StagePlace {
  readonly after: Exclude<StageName, "execute">;
  readonly load: () => Promise<Stage>;
}
