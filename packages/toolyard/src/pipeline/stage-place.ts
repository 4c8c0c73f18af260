import type { Stage } from "./state.ts";

/** The stages of the pipeline, outermost first. */
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

/** A stage of a feature. It runs inside the stage that it is placed after, and is loaded with the first call. */
export interface StagePlace {
  readonly after: Exclude<StageName, "execute">;
  readonly load: () => Promise<Stage>;
}
