import { ofModel, type NamedProgram } from "../programs/read-programs.ts";
import { simulate, type SimulateOptions, type Simulation } from "./simulate.ts";

/** As `simulate`, of one of `count` models: an error says which one it is of. */
export async function simulateModel(one: NamedProgram, count: number, options: SimulateOptions): Promise<Simulation> {
  try {
    return await simulate(one.program, options);
  } catch (error) {
    throw ofModel(error, one, count);
  }
}
