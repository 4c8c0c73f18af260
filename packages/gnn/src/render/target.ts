import type { Program } from "../programs/program.ts";

/** Options of a rendered program. Each default is what the model states, or else the value named here. */
export interface RenderOptions {
  /** Actions of a policy. @default 1 */
  readonly policyLength: number;
  /** Precision of policies. @default that of the target: 1, and 16 of PyMDP 0.0.7 */
  readonly gamma?: number;
}

/** Settings that a target may be unable to use. */
export type TargetSetting = "stochastic" | "labels" | "run";

/** One language or library that models are rendered to. */
export interface RenderTarget {
  /** As messages call it. */
  readonly title: string;
  readonly extension: string;
  readonly mimeType: string;
  /** Kinds of models that the target supports, for display. */
  readonly families: readonly string[];
  /** Settings of a model that the target cannot use. `run` means steps and seed. */
  readonly lacks?: readonly TargetSetting[];
  /** The program. Throws a `ProgramError` that names what the target cannot express. */
  write(program: Program, options: RenderOptions): string;
}
