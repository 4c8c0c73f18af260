import { chooseModels, type NamedModel } from "../language/choose-models.ts";
import type { GnnFile } from "../language/model.ts";
import { viewOf } from "../language/view.ts";
import { ProgramError } from "./program-error.ts";
import type { Program } from "./program.ts";
import { readProgram } from "./read-program.ts";

export interface NamedProgram extends NamedModel {
  readonly program: Program;
}

/**
 * Reads the models of a file as numbers: the requested model, or all. Throws an `UnknownModel`, or the `ProgramError`
 * of the first model from which no program can be made.
 */
export function readPrograms({ models }: GnnFile, wanted?: string | number): readonly NamedProgram[] {
  const chosen = chooseModels(models, wanted);
  return chosen.map((one) => forModel(one, chosen.length, () => ({ ...one, program: readProgram(viewOf(one.model)) })));
}

/** Runs `work` for one of `count` models. Errors name the model. */
export function forModel<T>(one: NamedModel, count: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw ofModel(error, one, count);
  }
}

/** Returns the error to report; with several models it names the model. */
export function ofModel(error: unknown, { label }: NamedModel, count: number): unknown {
  if (count === 1 || !(error instanceof ProgramError)) return error;
  return new ProgramError(error.construct, `${label}: ${error.message}`);
}
