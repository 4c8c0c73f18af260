import type { ModelView } from "../language/view.ts";
import { Numbers } from "./numbers.ts";
import type { Program } from "./program.ts";
import { readDiscrete } from "./read-discrete.ts";
import { isLinear, readLinear } from "./read-linear.ts";

/** Reads a model as numbers. Throws a `ProgramError` that names the construct from which no program can be made. */
export function readProgram(view: ModelView): Program {
  const numbers = new Numbers(view);
  return isLinear(numbers) ? readLinear(view, numbers) : readDiscrete(view, numbers);
}
