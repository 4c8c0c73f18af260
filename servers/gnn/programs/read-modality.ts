import { orientA } from "../checks/conventions.ts";
import type { Tensor } from "../checks/tensor.ts";
import { edgesOf, type ModelView } from "../language/view.ts";
import { baseName } from "../language/names.ts";
import type { Given } from "./numbers.ts";
import type { Factor, Modality } from "./program.ts";
import { ProgramError } from "./program-error.ts";
import type { AgentParts, AgentSource } from "./agent-parts.ts";
import { noNumbers, notProbable, readCounts } from "./read-factor.ts";
import { filledTensor, normalised, vectorOf } from "./shapes.ts";

interface ModalitySource extends AgentSource {
  readonly factors: readonly Factor[];
}

/** One modality: what is observed of which factors, and what is preferred. */
export function readModality(parts: AgentParts, index: number, source: ModalitySource): Modality {
  const { numbers, factors } = source;
  const part = parts.of("A", index);
  if (!part) throw new ProgramError(`A_m${index}`, `Modality ${index} has no likelihood A_m${index}.`);
  const given = numbers.given(part.name);
  const A = readLikelihood(given, source);
  const outcomes = A.shape[0]!;
  const on = dependencies(part.name, A.shape.slice(1), source);
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

function readLikelihood(given: Given, { numbers, factors }: ModalitySource): Tensor {
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

/** Which factors the dimensions of A stand for: all of them, those that edges name, or the only ones that fit. */
function dependencies(name: string, sizes: readonly number[], { view, factors }: ModalitySource): readonly number[] {
  const all = factors.map((_, index) => index);
  const fits = (on: readonly number[]): boolean =>
    on.length === sizes.length && on.every((factor, at) => factors[factor]!.states === sizes[at]);
  if (fits(all)) return all;
  const joined = joinedFactors(view, name, factors);
  if (fits(joined)) return joined;
  const possible = subsets(factors.length, sizes.length).filter(fits);
  if (possible.length === 1) return possible[0]!;
  const stated = factors.map(({ name: factor, states }) => `${factor}: ${states}`).join(", ");
  throw new ProgramError(
    name,
    possible.length === 0
      ? `${name} is over ${sizes.join("×")} states, and the factors have others (${stated}).`
      : `${name} may be over several of the factors (${stated}). Say which by edges, such as s_f0-${name}.`,
  );
}

/** The factors whose states, `s_f0`, `s_1` or `s_place` of `B_place`, an edge joins with the likelihood. */
function joinedFactors(view: ModelView, name: string, factors: readonly Factor[]): readonly number[] {
  const byName = new Map(factors.map((factor, index) => [`s${factor.name.slice(1)}`, index]));
  const found = new Set<number>();
  for (const { source, target } of edgesOf(view).edges) {
    const other = source === name ? target : target === name ? source : undefined;
    if (other === undefined) continue;
    const digits = /^s(?:_(?:level|agent)\d+)?_f?(\d{1,4})(?:_|$)/.exec(other)?.[1];
    const index = byName.get(baseName(other)) ?? (digits === undefined ? -1 : Number(digits));
    if (index >= 0 && index < factors.length) found.add(index);
  }
  return [...found].toSorted((one, other) => one - other);
}

/** Every rising choice of so many factors. */
function subsets(count: number, size: number): readonly (readonly number[])[] {
  if (size === 0) return [[]];
  const found: (readonly number[])[] = [];
  for (let first = 0; first <= count - size; first += 1)
    for (const rest of subsets(count - first - 1, size - 1))
      found.push([first, ...rest.map((index) => index + first + 1)]);
  return found;
}
