import type { Tensor } from "../checks/tensor.ts";
import { programCosts } from "../estimates/program-costs.ts";
import type { LinearGaussianProgram } from "../programs/program.ts";
import { ProgramError } from "../programs/program-error.ts";
import { SIMULATION_LIMITS } from "./limits.ts";
import { cholesky, column, matrixOf, minus, multiply, plus, solveFactored, transposed, type Matrix } from "./matrix.ts";
import { settingNotes, type RunSettings, type SimulateOptions } from "./options.ts";
import { Random } from "./random.ts";
import type { FilteredStep, LinearSimulation } from "./simulation.ts";

/** Number of steps between two turns of the event loop. */
const STEPS_PER_TURN = 50;

/**
 * Runs a Kalman filter over observations of the model's own world, or over replayed ones. Rejects with a `ProgramError`
 * if the run would exceed a limit.
 */
export async function runFilter(
  program: LinearGaussianProgram,
  settings: RunSettings,
  options: SimulateOptions,
): Promise<LinearSimulation> {
  const { steps, seed } = settings;
  expectFilterBounds(program, steps);
  const replayed = observationsOf(program, options, steps);
  const world = replayed ? undefined : new GaussianWorld(program, new Random(seed));
  const filter = new KalmanFilter(program);
  const filtered: FilteredStep[] = [];
  for (let step = 0; step < steps; step += 1) {
    options.signal?.throwIfAborted();
    const state = world?.state;
    const observation = replayed?.[step] ?? world!.observe();
    filtered.push({ step, ...(state ? { state } : {}), observation, ...filter.see(observation) });
    world?.move();
    options.onStep?.(step + 1, steps);
    if (step % STEPS_PER_TURN === STEPS_PER_TURN - 1) await new Promise((resume) => setImmediate(resume));
  }
  const notes = [...program.notes, ...settingNotes(program, settings)];
  const { title } = program;
  return { kind: "linear-gaussian", method: "kalman-filter", title, seed, steps, notes, agents: [], filtered };
}

function expectFilterBounds(program: LinearGaussianProgram, steps: number): void {
  const numbers = (program.states * (program.states + 2) + program.outcomes) * steps;
  const checks = [
    ["steps", steps, SIMULATION_LIMITS.steps],
    ["operations", programCosts(program).operationsPerStep * steps, SIMULATION_LIMITS.operations],
    ["numbers of the result", numbers, SIMULATION_LIMITS.numbers],
  ] as const;
  for (const [what, wanted, limit] of checks)
    if (wanted > limit)
      throw new ProgramError(
        what,
        `The simulation needs ${wanted.toLocaleString("en")} ${what}, more than ${limit.toLocaleString("en")}. ` +
          "Use fewer steps or a smaller model.",
      );
}

function observationsOf(
  { outcomes }: LinearGaussianProgram,
  { observations, actions }: SimulateOptions,
  steps: number,
): readonly Float64Array[] | undefined {
  if (actions) throw new ProgramError("actions", "A linear-Gaussian model has no actions. Replay observations only.");
  if (observations === undefined) return undefined;
  if (!Array.isArray(observations))
    throw new ProgramError(
      "observations",
      "A linear-Gaussian model has one filter. Give observations as a list of rows.",
    );
  const rows = observations as readonly (readonly number[])[];
  if (rows.length < steps)
    throw new ProgramError(
      "observations",
      `There are ${rows.length} observations for ${steps} steps; give one for each.`,
    );
  const wrong = rows.findIndex((row) => row.length !== outcomes || !row.every((value) => Number.isFinite(value)));
  if (wrong === -1) return rows.map((row) => Float64Array.from(row));
  throw new ProgramError(
    "observations",
    `Step ${wrong} of observations is [${rows[wrong]!.join(", ")}]; it must have ${outcomes} numbers.`,
  );
}

function matrix({ shape, data }: Tensor): Matrix {
  return { rows: shape[0]!, columns: shape[1]!, data };
}

/** The world of a linear-Gaussian model: a state that moves with noise, and observations with noise. */
class GaussianWorld {
  readonly #random: Random;
  readonly #F: Matrix;
  readonly #H: Matrix;
  readonly #noiseOfState: Matrix;
  readonly #noiseOfOutcome: Matrix;
  #state: Float64Array;

  constructor({ F, H, Q, R, mean, covariance }: LinearGaussianProgram, random: Random) {
    this.#random = random;
    this.#F = matrix(F);
    this.#H = matrix(H);
    this.#noiseOfState = cholesky(matrix(Q));
    this.#noiseOfOutcome = cholesky(matrix(R));
    this.#state = this.#drawn(mean, cholesky(matrix(covariance)));
  }

  get state(): Float64Array {
    return this.#state;
  }

  observe(): Float64Array {
    return this.#drawn(multiply(this.#H, column(this.#state)).data, this.#noiseOfOutcome);
  }

  move(): void {
    this.#state = this.#drawn(multiply(this.#F, column(this.#state)).data, this.#noiseOfState);
  }

  #drawn(mean: Float64Array, factor: Matrix): Float64Array {
    const noise = Float64Array.from(mean, () => this.#random.normal());
    return plus(column(mean), multiply(factor, column(noise))).data;
  }
}

/** Kalman filter: the distribution of the state, given all observations so far. */
class KalmanFilter {
  readonly #F: Matrix;
  readonly #H: Matrix;
  readonly #Q: Matrix;
  readonly #R: Matrix;
  #mean: Matrix;
  #covariance: Matrix;

  constructor({ F, H, Q, R, mean, covariance }: LinearGaussianProgram) {
    [this.#F, this.#H, this.#Q, this.#R] = [matrix(F), matrix(H), matrix(Q), matrix(R)];
    this.#mean = column(mean);
    this.#covariance = matrix(covariance);
  }

  /** Returns the state after an observation, and predicts the next one. */
  see(observation: Float64Array): Pick<FilteredStep, "mean" | "covariance" | "freeEnergy"> {
    const [F, H] = [this.#F, this.#H];
    const across = multiply(H, this.#covariance);
    const expected = cholesky(plus(multiply(across, transposed(H)), this.#R));
    const error = minus(column(observation), multiply(H, this.#mean));
    const gain = transposed(solveFactored(expected, across));
    const mean = plus(this.#mean, multiply(gain, error));
    const covariance = symmetric(minus(this.#covariance, multiply(gain, across)));
    const distance = multiply(transposed(error), solveFactored(expected, error)).data[0]!;
    this.#mean = multiply(F, mean);
    this.#covariance = plus(multiply(multiply(F, covariance), transposed(F)), this.#Q);
    return { mean: mean.data, covariance: covariance.data, freeEnergy: surprise(distance, expected) };
  }
}

/** Returns the mean of a matrix and its transpose, which removes rounding errors. */
function symmetric({ rows, data }: Matrix): Matrix {
  return matrixOf(rows, rows, (row, at) => (data[row * rows + at]! + data[at * rows + row]!) / 2);
}

/** Returns the negative logarithm of a normal density, from the squared distance and the factor of the covariance. */
function surprise(distance: number, { rows, data }: Matrix): number {
  let logDeterminant = 0;
  for (let at = 0; at < rows; at += 1) logDeterminant += 2 * Math.log(data[at * rows + at]!);
  return (distance + logDeterminant + rows * Math.log(2 * Math.PI)) / 2;
}
