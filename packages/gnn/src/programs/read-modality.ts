import { LAYOUTS } from "../checks/conventions.ts";
import { sameShape, type Tensor } from "../checks/tensor.ts";
import type { TensorValue } from "./numbers.ts";
import type { Factor, Modality } from "./program.ts";
import { ProgramError } from "./program-error.ts";
import type { AgentParts, AgentSource } from "./agent-parts.ts";
import { dependencies } from "./dependencies.ts";
import { noNumbers, readCounts } from "./read-factor.ts";
import { readOrdered, turnCounts, type OrderedTensor } from "./read-ordered.ts";
import { filledTensor, normalised, vectorOf } from "./shapes.ts";

interface ModalitySource extends AgentSource {
  readonly factors: readonly Factor[];
}

/** Reads one modality: its likelihood, the factors it depends on, and its preferences. */
export function readModality(parts: AgentParts, index: number, source: ModalitySource): Modality {
  const { numbers, factors } = source;
  const part = parts.of("A", index);
  if (!part) throw new ProgramError(`A_m${index}`, `Modality ${index} has no likelihood A_m${index}.`);
  const given = numbers.given(part.name);
  const { tensor: A, axes } = readLikelihood(given, source);
  const outcomes = A.shape[0]!;
  const on = dependencies({ name: part.name, sizes: A.shape.slice(1) }, source.neighbours, factors);
  const preference = parts.of("C", index);
  const C = preference && vectorOf(numbers.given(preference.name), outcomes, numbers);
  const shape = [outcomes, ...on.map((factor) => factors[factor]!.states)];
  const counts = parts.counts("A", index);
  return {
    name: part.name,
    outcomes,
    factors: on,
    A: { shape, data: A.data },
    ...(counts || source.omega === 1 ? {} : { believedA: sharpened({ shape, data: A.data }, source.omega) }),
    C: C ?? new Float64Array(outcomes),
    ...(counts ? { countsA: countsA(numbers.given(counts.name), { shape, axes }, source) } : {}),
  };
}

/** Returns a likelihood with precision ω: each number to the power of ω, normalised so that columns sum to 1. */
function sharpened({ shape, data }: Tensor, omega: number): Tensor {
  const columns = data.length / shape[0]!;
  const highest = new Float64Array(columns);
  for (const [at, number] of data.entries()) highest[at % columns] = Math.max(highest[at % columns]!, number);
  // Divides by the highest number of each column first, so that the powers do not underflow.
  return normalised({ shape, data: data.map((number, at) => (number / highest[at % columns]!) ** omega) });
}

interface CountsShape {
  readonly shape: readonly number[];
  /** Axes in the order in which the likelihood is written. */
  readonly axes: readonly string[];
}

/** Reads counts of a likelihood in the order in which it is written. */
function countsA(given: TensorValue, { shape, axes }: CountsShape, { numbers, notes }: ModalitySource): Tensor {
  if (!given.tensor || shape.length !== 2) return readCounts(given, shape, numbers);
  const tensor = turnCounts(given.tensor, "A", axes);
  if (tensor === given.tensor || !sameShape(tensor.shape, shape)) return readCounts(given, shape, numbers);
  notes.push(`${given.name} is read in the index order of its likelihood, ${axes.join(" × ")}.`);
  return readCounts({ ...given, tensor }, shape, numbers);
}

function readLikelihood(given: TensorValue, source: ModalitySource): OrderedTensor {
  const { numbers, factors } = source;
  const usual = LAYOUTS.A[0].split(" × ");
  const shape = given.shape ?? given.tensor?.shape;
  if (!shape) throw noNumbers(given.name);
  // A[outcome] without a state dimension is a likelihood for one state.
  const full = shape.length === 1 && factors.length === 1 ? [shape[0]!, 1] : shape;
  if (given.filler) return { tensor: normalised(filledTensor(given, full, numbers)), axes: usual };
  if (!given.tensor) throw noNumbers(given.name);
  const { tensor, axes } = readOrdered({ given, tensor: given.tensor, declared: full, letter: "A" }, source);
  return { tensor: normalised(tensor), axes };
}
