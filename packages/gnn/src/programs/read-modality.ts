import { orientA } from "../checks/conventions.ts";
import type { Tensor } from "../checks/tensor.ts";
import type { TensorValue } from "./numbers.ts";
import type { Factor, Modality } from "./program.ts";
import { ProgramError } from "./program-error.ts";
import type { AgentParts, AgentSource } from "./agent-parts.ts";
import { dependencies } from "./dependencies.ts";
import { noNumbers, notProbable, readCounts } from "./read-factor.ts";
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
  const A = readLikelihood(given, source);
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
    C: C ?? new Float64Array(outcomes),
    ...(counts ? { countsA: readCounts(numbers.given(counts.name), shape, numbers) } : {}),
  };
}

function readLikelihood(given: TensorValue, { numbers, factors }: ModalitySource): Tensor {
  const shape = given.shape ?? given.tensor?.shape;
  if (!shape) throw noNumbers(given.name);
  // A[outcome] alone is a factor with one state.
  const full = shape.length === 1 && factors.length === 1 ? [shape[0]!, 1] : shape;
  if (given.filler) return normalised(filledTensor(given, full, numbers));
  if (!given.tensor) throw noNumbers(given.name);
  const oriented = orientA(given.tensor, full);
  if (!oriented || !("tensor" in oriented)) throw notProbable(given, oriented?.sum);
  return normalised(oriented.tensor);
}
