import { forModel, type NamedProgram } from "../programs/read-programs.ts";
import type { RenderOptions } from "./target.ts";
import { renderProgram, type RenderTargetName } from "./targets.ts";

export interface RenderedProgram extends NamedProgram {
  readonly text: string;
}

/** Each model as a program. Throws the `ProgramError` of the first that the target cannot express. */
export function renderPrograms(
  programs: readonly NamedProgram[],
  target: RenderTargetName,
  options: Partial<RenderOptions>,
): readonly RenderedProgram[] {
  return programs.map((one) =>
    forModel(one, programs.length, () => ({ ...one, text: renderProgram(one.program, target, options) })),
  );
}
