import { AXES, type OrderedLetter, type StatedOrder } from "../settings/orders.ts";
import { equalTensors, reshape, sameShape, squeeze, transpose, worstSum, type Tensor } from "./tensor.ts";

/**
 * Index orders in which a tensor of probabilities can be written. The first is the order that GNN defines: columns sum
 * to 1 (`A[observation,state]`, `B[next,previous,action]`). Files also contain the transpose, or the action first.
 */
export const LAYOUTS = {
  A: ["observation × state", "state × observation"],
  B: ["next × previous × action", "action × next × previous", "previous × next × action", "action × previous × next"],
} as const;

/** Index order: an entry of `LAYOUTS`, or another order that the model states. */
export type TensorLayout = string;

/** A tensor in GNN's index order, with the order in which it is written and the other possible orders. */
export interface TensorOrientation {
  readonly tensor: Tensor;
  readonly layout: TensorLayout;
  readonly alternatives: readonly TensorLayout[];
}

/** Result for a tensor whose columns sum to 1 in no index order: the worst sum of the closest order. */
export interface Misfit {
  readonly layout: TensorLayout;
  readonly sum: number;
  /** A number that is not a probability; present if all sums are 1. */
  readonly number?: number;
}

interface Candidate {
  readonly layout: TensorLayout;
  readonly tensor: Tensor;
}

/** Maximum deviation of a sum from 1. Smaller deviations must be explained by rounding to the written digits. */
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

/**
 * Returns a tensor in GNN's index order. Returns undefined if its number of dimensions differs from that of the stated
 * order.
 */
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

/** Returns the tensor with an action dimension, of length 1 if the tensor was written without it. */
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

/** Determines the index order of a likelihood. `shape` is the declared shape, observations first. */
export function orientA(tensor: Tensor, shape: readonly number[]): TensorOrientation | Misfit | undefined {
  const candidates: Candidate[] = [];
  const declared = fitted(tensor, shape);
  if (declared) candidates.push({ layout: LAYOUTS.A[0], tensor: declared });
  const turned = shape.length === 2 ? fitted(tensor, shape.toReversed()) : undefined;
  if (turned) candidates.push({ layout: LAYOUTS.A[1], tensor: transpose(turned, [1, 0]) });
  return choose(candidates);
}

/**
 * Determines the index order of transitions. `shape` is the declared shape, next × previous × action, or two dimensions
 * without actions.
 */
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

/**
 * Returns the first index order in which the columns sum to 1. Returns undefined if no order has the right lengths.
 */
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

/** Returns the tolerance of a sum: half a unit of the last written digit for each summand. */
function toleranceOf(data: Float64Array, summands: number): number {
  let digits = 0;
  // Most numbers have no more digits than those before them, so one test per number is enough.
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
