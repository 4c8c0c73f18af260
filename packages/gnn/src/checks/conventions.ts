import { AXES, type OrderedLetter, type StatedOrder } from "../settings/orders.ts";
import { equalTensors, reshape, sameShape, squeeze, transpose, worstSum, type Tensor } from "./tensor.ts";

/**
 * How a tensor of probabilities is written. The first one is what GNN declares: columns sum to 1
 * (`A[observation,state]`, `B[next,previous,action]`); files also have it turned over, or with the action in front.
 */
export const LAYOUTS = {
  A: ["observation × state", "state × observation"],
  B: ["next × previous × action", "action × next × previous", "previous × next × action", "action × previous × next"],
} as const;

/** One of `LAYOUTS`, or another order that the model states. */
export type TensorLayout = string;

/** A tensor as GNN declares it, with the layout it is written in and the others that fit as well. */
export interface TensorOrientation {
  readonly tensor: Tensor;
  readonly layout: TensorLayout;
  readonly alternatives: readonly TensorLayout[];
}

/** No layout makes it one of probabilities: the sum that is worst in the layout that comes closest. */
export interface Misfit {
  readonly layout: TensorLayout;
  readonly sum: number;
  /** The expected sum, if it is a number other than 1. */
  readonly number?: number;
}

interface Candidate {
  readonly layout: TensorLayout;
  readonly tensor: Tensor;
}

/** Sums may differ from 1 by what rounding to the digits that are written explains, at most by this. */
export const MAX_TOLERANCE = 0.01;

/** Reads a tensor in the order that the model states. Returns undefined if its lengths do not fit this order. */
export function orientStated(
  tensor: Tensor,
  letter: OrderedLetter,
  { axes }: StatedOrder,
): TensorOrientation | Misfit | undefined {
  const turned = turnStated(tensor, letter, axes);
  if (!turned || (letter === "B" && turned.shape[0] !== turned.shape[1])) return undefined;
  return choose([{ layout: axes.join(" × "), tensor: turned }]);
}

/** Returns a tensor in GNN's own order. Returns undefined if it has other dimensions than the order. */
export function turnStated(tensor: Tensor, letter: OrderedLetter, axes: readonly string[]): Tensor | undefined {
  const written = withAction(tensor, axes, letter);
  return (
    written &&
    transpose(
      written.tensor,
      AXES[letter].map((axis) => written.axes.indexOf(axis)),
    )
  );
}

/** Returns the tensor with an axis for actions, of length 1 if it is written without one. */
function withAction(
  tensor: Tensor,
  axes: readonly string[],
  letter: OrderedLetter,
): { readonly tensor: Tensor; readonly axes: readonly string[] } | undefined {
  const { shape } = tensor;
  if (letter === "A") return shape.length === 2 ? { tensor, axes } : undefined;
  const full = axes.includes("action") ? axes : [...axes, "action"];
  if (shape.length === 3) return { tensor, axes: full };
  if (shape.length !== 2) return undefined;
  const at = full.indexOf("action");
  return { tensor: reshape(tensor, shape.toSpliced(at, 0, 1)), axes: full };
}

/** Reads a likelihood: `shape` is the declared one, observations first. */
export function orientA(tensor: Tensor, shape: readonly number[]): TensorOrientation | Misfit | undefined {
  const candidates: Candidate[] = [];
  const declared = fitted(tensor, shape);
  if (declared) candidates.push({ layout: LAYOUTS.A[0], tensor: declared });
  const turned = shape.length === 2 ? fitted(tensor, shape.toReversed()) : undefined;
  if (turned) candidates.push({ layout: LAYOUTS.A[1], tensor: transpose(turned, [1, 0]) });
  return choose(candidates);
}

/** Reads transitions: `shape` is the declared one, next × previous × action; without actions it has two dimensions. */
export function orientB(tensor: Tensor, shape: readonly number[]): TensorOrientation | Misfit | undefined {
  const [next, previous, ...actions] = shape;
  if (next === undefined || previous === undefined || actions.length > 1) {
    const declared = fitted(tensor, shape);
    return declared && choose([{ layout: LAYOUTS.B[0], tensor: declared }]);
  }
  const full = [next, previous, actions[0] ?? 1];
  const inFront = [full[2]!, next, previous];
  const written = fitted(tensor, full);
  const acted = fitted(tensor, inFront);
  const turned = fitted(tensor, [full[2]!, previous, next]);
  const candidates: Candidate[] = [];
  if (written) candidates.push({ layout: LAYOUTS.B[0], tensor: written });
  if (acted) candidates.push({ layout: LAYOUTS.B[1], tensor: transpose(acted, [1, 2, 0]) });
  if (written && next === previous) candidates.push({ layout: LAYOUTS.B[2], tensor: transpose(written, [1, 0, 2]) });
  if (turned) candidates.push({ layout: LAYOUTS.B[3], tensor: transpose(turned, [2, 1, 0]) });
  return choose(candidates);
}

/** Returns the tensor in the given shape, or undefined if the shapes differ in more than dimensions of length 1. */
function fitted(tensor: Tensor, shape: readonly number[]): Tensor | undefined {
  if (sameShape(tensor.shape, shape)) return tensor;
  return sameShape(squeeze(tensor.shape), squeeze(shape)) ? reshape(tensor, shape) : undefined;
}

/** Returns the first layout whose columns sum to 1; nothing if no layout has the right lengths. */
function choose(candidates: readonly Candidate[]): TensorOrientation | Misfit | undefined {
  const judged = candidates.map((candidate) => ({ ...candidate, sum: worstSum(candidate.tensor, 0).sum }));
  const [first, ...others] = judged.filter(({ tensor, sum }) => isOne(sum, tensor) && isProbable(tensor));
  if (first)
    return {
      tensor: first.tensor,
      layout: first.layout,
      alternatives: others.filter(({ tensor }) => !equalTensors(tensor, first.tensor)).map(({ layout }) => layout),
    };
  const [closest] = judged.toSorted((one, other) => Math.abs(one.sum - 1) - Math.abs(other.sum - 1));
  if (!closest) return undefined;
  const { layout, sum, tensor } = closest;
  const number = isOne(sum, tensor) ? tensor.data.find((one) => !isProbability(one)) : undefined;
  return number === undefined ? { layout, sum } : { layout, sum, number };
}

export function isOne(sum: number, { shape, data }: Tensor): boolean {
  return Math.abs(sum - 1) <= toleranceOf(data, shape[0] ?? 1);
}

export function isProbable({ data }: Tensor): boolean {
  return data.every(isProbability);
}

function isProbability(number: number): boolean {
  return number >= 0 && number <= 1 + MAX_TOLERANCE;
}

/** Half a unit of the last digit that is written, for each number of the sum. */
function toleranceOf(data: Float64Array, summands: number): number {
  let digits = 0;
  // Most numbers have no more digits than those before them, and cost one look.
  for (let index = 0; index < data.length && digits < ENOUGH_DIGITS; index += 1)
    while (digits < ENOUGH_DIGITS && !hasDecimals(data[index]!, digits)) digits += 1;
  return Math.min(MAX_TOLERANCE, summands * 0.5 * 10 ** -digits) + 1e-9;
}

const ENOUGH_DIGITS = 8;

const POWERS = Array.from({ length: ENOUGH_DIGITS }, (_, digits) => 10 ** digits);

/** Returns whether the number has at most this many decimals. */
function hasDecimals(number: number, digits: number): boolean {
  const scaled = number * POWERS[digits]!;
  return Math.abs(scaled - Math.round(scaled)) < 1e-7;
}
