import { ofModel, type NamedProgram } from "../programs/read-programs.ts";
import { simulate, type SimulateOptions, type Simulation } from "./simulate.ts";

/** Like `simulate`, for one of `count` models: an error names the model. */
export async function simulateModel(one: NamedProgram, count: number, options: SimulateOptions): Promise<Simulation> {
  try {
    return await simulate(one.program, options);
  } catch (error) {
    throw ofModel(error, one, count);
  }
}
