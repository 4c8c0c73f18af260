import { LAYOUTS } from "../checks/conventions.ts";
import { sameShape, type Tensor } from "../checks/tensor.ts";
import { dependencies } from "./dependencies.ts";
import type { TensorValue, Numbers } from "./numbers.ts";
import type { Part } from "./parts.ts";
import type { Factor } from "./program.ts";
import { ProgramError } from "./program-error.ts";
import type { AgentParts, AgentSource } from "./agent-parts.ts";
import { readOrdered, turnCounts, type OrderedTensor } from "./read-ordered.ts";
import { filledTensor, identity, inShape, normalised, round, vectorOf } from "./shapes.ts";

/** Reads the factors of the hidden state: transitions and priors. */
export function readFactors(parts: AgentParts, count: number, source: AgentSource): readonly Factor[] {
  const factors = Array.from({ length: count }, (_, index) => readFactor(parts, index, source));
  // Dependencies on the states of several factors are resolved after all factors are known.
  return factors.map((factor, own) =>
    factor.B.shape.length === 3
      ? factor
      : {
          ...factor,
          from: dependencies(
            { name: factor.name, sizes: factor.B.shape.slice(1, -1), own },
            source.neighbours,
            factors,
          ),
        },
  );
}

function readFactor(parts: AgentParts, index: number, source: AgentSource): Factor {
  const { numbers } = source;
  const transitions = parts.of("B", index);
  const prior = parts.of("D", index);
  const { tensor: B, axes } = transitions
    ? readTransitions(numbers.given(transitions.name), source)
    : { tensor: still(parts, { index, prior, numbers }), axes: [] };
  const name = transitions?.name ?? prior?.name ?? "D";
  const states = B.shape[0]!;
  const counts = parts.counts("B", index);
  const starts = parts.counts("D", index);
  return {
    name,
    states,
    actions: B.shape.at(-1)!,
    from: [index],
    B,
    D: readPrior(prior, states, numbers),
    ...(starts ? { countsD: readCounts(numbers.given(starts.name), [states], numbers).data } : {}),
    ...(counts ? { countsB: countsB(numbers.given(counts.name), { tensor: B, axes }, source) } : {}),
  };
}

/** Reads counts of transitions in the order in which `B` is written. */
function countsB(given: TensorValue, { tensor: B, axes }: OrderedTensor, { numbers, notes }: AgentSource): Tensor {
  if (!given.tensor || axes.length === 0) return readCounts(given, B.shape, numbers);
  const tensor = turnCounts(given.tensor, "B", axes);
  if (tensor === given.tensor || !sameShape(tensor.shape, B.shape)) return readCounts(given, B.shape, numbers);
  notes.push(`${given.name} is read in the index order of its transitions, ${axes.join(" × ")}.`);
  return readCounts({ ...given, tensor }, B.shape, numbers);
}

function readTransitions(given: TensorValue, source: AgentSource): OrderedTensor {
  const { numbers } = source;
  const usual = LAYOUTS.B[0].split(" × ");
  const declared = given.shape ?? given.tensor?.shape;
  if (!declared) throw noNumbers(given.name);
  const shape = [...declared, ...Array.from({ length: 3 - Math.min(declared.length, 3) }, () => 1)];
  if (given.filler) return { tensor: normalised(filledTensor(given, shape, numbers)), axes: usual };
  if (!given.tensor) throw noNumbers(given.name);
  const { tensor, axes } = readOrdered({ given, tensor: given.tensor, declared, letter: "B" }, source);
  const full = tensor.shape.length === 3 ? tensor.shape : shape;
  if (full.length === 3 && full[0] !== full[1])
    throw new ProgramError(given.name, `${given.name} leads from ${full[1]} states to ${full[0]}.`);
  return { tensor: normalised({ shape: full, data: tensor.data }), axes: full.length === 3 ? axes : [] };
}

/** Returns identity transitions for a factor without B. */
function still(
  parts: AgentParts,
  { index, prior, numbers }: { readonly index: number; readonly prior: Part | undefined; readonly numbers: Numbers },
): Tensor {
  if (parts.size("B") > 0) throw new ProgramError(`B_f${index}`, `Factor ${index} has no transitions B_f${index}.`);
  if (!prior)
    throw new ProgramError("B", "The model has no hidden state: both transitions B and a prior D are missing.");
  const { shape, tensor } = numbers.given(prior.name);
  const states = (shape ?? tensor?.shape ?? []).reduce((product, one) => product * one, 1);
  return identity(prior.name, [states, states, 1], numbers);
}

function readPrior(prior: Part | undefined, states: number, numbers: Numbers): Float64Array {
  const given = prior && vectorOf(numbers.given(prior.name), states, numbers);
  if (!given) return new Float64Array(states).fill(1 / states);
  if (given.some((number) => number < 0))
    throw new ProgramError(prior.name, `${prior.name} does not contain probabilities: it has numbers below 0.`);
  const sum = given.reduce((total, number) => total + number, 0);
  if (Math.abs(sum - 1) > 0.02)
    throw new ProgramError(prior.name, `${prior.name} does not contain probabilities: it sums to ${round(sum)}.`);
  return given.map((number) => number / sum);
}

/** Reads Dirichlet counts, which must be above 0, in the shape of the corresponding tensor. */
export function readCounts(given: TensorValue, shape: readonly number[], numbers: Numbers): Tensor {
  const counts = given.filler ? filledTensor(given, shape, numbers) : given.tensor && inShape(given, shape);
  if (!counts) throw noNumbers(given.name);
  if (counts.data.some((number) => number <= 0))
    throw new ProgramError(given.name, `${given.name} must contain counts, which are above 0.`);
  return counts;
}

export function noNumbers(name: string): ProgramError {
  return new ProgramError(name, `${name} has no numbers. Add ${name}={…} to InitialParameterization.`);
}
