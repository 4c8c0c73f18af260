import { ofModel, type NamedProgram } from "../programs/read-programs.ts";
import type { SimulateOptions } from "./options.ts";
import { simulate } from "./simulate.ts";
import type { Simulation } from "./simulation.ts";

/** Like `simulate`, for one of `count` models. Errors name the model. */
export async function simulateModel(one: NamedProgram, count: number, options: SimulateOptions): Promise<Simulation> {
  try {
    return await simulate(one.program, options);
  } catch (error) {
    throw ofModel(error, one, count);
  }
}
