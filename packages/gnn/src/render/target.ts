import type { Program } from "../programs/program.ts";

/**
 * Options of a rendered program. Default of each: the value that the model states, or else the default stated here.
 */
export interface RenderOptions {
  /** Number of actions in a policy. @default 1 */
  readonly policyLength: number;
  /** Precision of policies. @default that of the target: 1, or 16 for PyMDP 0.0.7 */
  readonly gamma?: number;
}

/** Settings that a target may be unable to use. */
export type TargetSetting = "stochastic" | "labels" | "run" | "weights" | "parameterGain";

/** A language or library to which models can be rendered. */
export interface RenderTarget {
  /** Name in messages. */
  readonly title: string;
  readonly extension: string;
  readonly mimeType: string;
  /** Kinds of models that the target supports, for display. */
  readonly families: readonly string[];
  /** Settings of a model that the target cannot use. `run` means steps and seed; `weights` those except 0 and 1. */
  readonly lacks?: readonly TargetSetting[];
  /** Returns the program. Throws a `ProgramError` that names the construct that the target cannot express. */
  write(program: Program, options: RenderOptions): string;
}
