import type { Tensor } from "../checks/tensor.ts";
import type { ModelView } from "../language/view.ts";
import { RUN_SETTINGS } from "../settings/settings.ts";
import type { Numbers } from "./numbers.ts";
import type { LinearGaussianProgram } from "./program.ts";
import { ProgramError } from "./program-error.ts";
import { titleOf } from "./read-discrete.ts";
import { noNumbers } from "./read-factor.ts";
import { usableSettings } from "./read-settings.ts";
import { identity, vectorOf } from "./shapes.ts";
import { unusedNotes } from "./unused.ts";

const MATRICES = ["F", "H", "Q", "R"] as const;

/** Returns whether the values are those of a linear-Gaussian model. */
export function isLinear(numbers: Numbers): boolean {
  return MATRICES.every((name) => numbers.hasValue(name));
}

export function readLinear(view: ModelView, numbers: Numbers): LinearGaussianProgram {
  const [F, H, Q, R] = MATRICES.map((name) => matrix(name, numbers)) as [Tensor, Tensor, Tensor, Tensor];
  const states = F.shape[0]!;
  const outcomes = H.shape[0]!;
  expect("F", F, [states, states]);
  expect("H", H, [outcomes, states]);
  expect("Q", Q, [states, states]);
  expect("R", R, [outcomes, outcomes]);
  const hasCovariance = numbers.hasValue("prior_cov");
  const covariance = hasCovariance ? matrix("prior_cov", numbers) : identity("prior_cov", [states, states], numbers);
  expect("prior_cov", covariance, [states, states]);
  for (const [name, tensor] of Object.entries({ Q, R, prior_cov: covariance })) expectCovariance(name, tensor);
  const mean = numbers.hasValue("prior_mean") && vectorOf(numbers.given("prior_mean"), states, numbers);
  const stated = usableSettings(view, RUN_SETTINGS);
  return {
    kind: "linear-gaussian",
    title: titleOf(view),
    notes: [
      ...(numbers.has("B") ? ["The program uses F, H, Q and R; the discrete part of the model is omitted."] : []),
      ...stated.notes,
      ...unusedNotes(view, { parameters: stated.usedParameters, values: numbers.usedValues }),
    ],
    settings: stated.settings,
    states,
    outcomes,
    F,
    H,
    Q,
    R,
    mean: mean || new Float64Array(states),
    covariance,
  };
}

function matrix(name: string, numbers: Numbers): Tensor {
  // A variable can be declared without numbers, because the name may mean another quantity: F is also the free energy.
  const { tensor } = numbers.given(name);
  if (!tensor) throw noNumbers(name);
  const { shape, data } = tensor;
  if (shape.length === 2) return tensor;
  if (data.length === 1) return { shape: [1, 1], data };
  if (shape.length === 1) return { shape: [1, shape[0]!], data };
  throw new ProgramError(name, `${name} must be a matrix, but is ${shape.join("×")}.`);
}

function expect(name: string, { shape }: Tensor, wanted: readonly number[]): void {
  if (shape[0] === wanted[0] && shape[1] === wanted[1]) return;
  throw new ProgramError(name, `${name} must be ${wanted.join("×")}, but is ${shape.join("×")}.`);
}

/** Throws unless the matrix is symmetric and has a Cholesky decomposition. */
function expectCovariance(name: string, { shape, data }: Tensor): void {
  const size = shape[0]!;
  const lower = new Float64Array(data.length);
  for (let row = 0; row < size; row += 1)
    for (let column = 0; column <= row; column += 1) {
      let rest = data[row * size + column]!;
      if (Math.abs(rest - data[column * size + row]!) > 1e-9 * (1 + Math.abs(rest)))
        throw new ProgramError(name, `${name} is a covariance, but not symmetric.`);
      for (let at = 0; at < column; at += 1) rest -= lower[row * size + at]! * lower[column * size + at]!;
      if (row === column && !(rest > 0))
        throw new ProgramError(name, `${name} is a covariance, but not positive definite.`);
      lower[row * size + column] = row === column ? Math.sqrt(rest) : rest / lower[column * size + column]!;
    }
}
