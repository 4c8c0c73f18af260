import { viewOf } from "../language/view.ts";
import type { GnnFile } from "../language/model.ts";
import { ProgramError } from "../programs/program-error.ts";
import { readProgram } from "../programs/read-program.ts";
import { programCosts } from "./program-costs.ts";
import { seedEraEstimates, type ResourceEstimates } from "./seed-era.ts";

/** What one model needs, by the rules of the first tools and by what a program of it does. */
export interface ModelCosts extends ResourceEstimates {
  readonly name: string;
  /** Of the tensors of a program, as numbers of 8 bytes. */
  readonly tensor_bytes?: number;
  /** Multiplications and additions of one step of it: beliefs, then every policy. */
  readonly operations_per_step?: number;
  readonly policies?: number;
  /** Why no program can be made of it, in place of what it would need. */
  readonly no_program?: string;
}

/** Of each model of a file. */
export function modelCosts({ models }: GnnFile): readonly ModelCosts[] {
  return models.map((model) => {
    const view = viewOf(model);
    return { name: view.name ?? view.identifier ?? "", ...seedEraEstimates(view), ...costsOf(view) };
  });
}

function costsOf(view: ReturnType<typeof viewOf>): Partial<ModelCosts> {
  try {
    const { tensorBytes, operationsPerStep, policies } = programCosts(readProgram(view));
    return { tensor_bytes: tensorBytes, operations_per_step: operationsPerStep, policies };
  } catch (error) {
    if (error instanceof ProgramError) return { no_program: error.message };
    throw error;
  }
}
