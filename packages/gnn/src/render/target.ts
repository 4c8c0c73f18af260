import type { Program } from "../programs/program.ts";

/** Options of a rendered program. */
export interface RenderOptions {
  /** Actions of a policy. @default 1 */
  readonly policyLength: number;
  /** Precision of policies. @default that of the target: 1, and 16 of PyMDP 0.0.7 */
  readonly gamma?: number;
}

/** One language or library that models are rendered to. */
export interface RenderTarget {
  /** As messages call it. */
  readonly title: string;
  readonly extension: string;
  readonly mimeType: string;
  /** Kinds of models that the target supports, for display. */
  readonly families: readonly string[];
  /** The program. Throws a `ProgramError` that names what the target cannot express. */
  write(program: Program, options: RenderOptions): string;
}
