import { viewOf } from "../language/view.ts";
import type { GnnFile } from "../language/model.ts";
import { ProgramError } from "../programs/program-error.ts";
import { readProgram } from "../programs/read-program.ts";
import { programCosts } from "./program-costs.ts";
import { seedEraEstimates, type ResourceEstimates } from "./seed-era.ts";

/** Costs of one model: by the formulas of the first GNN tools, and of a program rendered from it. */
export interface ModelCosts extends ResourceEstimates {
  readonly name: string;
  /** Size of the program's tensors, with 8 bytes per number. */
  readonly tensor_bytes?: number;
  /** Multiplications and additions of one step of the program: updating the beliefs, then evaluating every policy. */
  readonly operations_per_step?: number;
  readonly policies?: number;
  /** Reason why no program can be made of the model; present instead of its costs. */
  readonly no_program?: string;
}

/** Returns the costs of each model of a file. */
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
