import { forModel, type NamedProgram } from "../programs/read-programs.ts";
import type { RenderOptions } from "./target.ts";
import { renderWithNotes, type RenderTargetName } from "./targets.ts";

export interface RenderedProgram extends NamedProgram {
  readonly text: string;
  /** Notes on statements of the model that the program does not use, and on the chosen interpretation. */
  readonly notes: readonly string[];
}

/** Renders each model as a program. Throws the `ProgramError` of the first model that the target cannot express. */
export function renderPrograms(
  programs: readonly NamedProgram[],
  target: RenderTargetName,
  options: Partial<RenderOptions>,
): readonly RenderedProgram[] {
  return programs.map((one) =>
    forModel(one, programs.length, () => ({ ...one, ...renderWithNotes(one.program, target, options) })),
  );
}
