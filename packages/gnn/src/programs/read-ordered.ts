import {
  LAYOUTS,
  orientA,
  orientB,
  orientStated,
  turnStated,
  type Misfit,
  type TensorOrientation,
} from "../checks/conventions.ts";
import type { Tensor } from "../checks/tensor.ts";
import { orderAdvice, orderLine, type OrderedLetter, type StatedOrder } from "../settings/orders.ts";
import type { AgentSource } from "./agent-parts.ts";
import type { TensorValue } from "./numbers.ts";
import { ProgramError } from "./program-error.ts";
import { round } from "./shapes.ts";

/** A tensor in GNN's index order, with the axes in written order. */
export interface OrderedTensor {
  readonly tensor: Tensor;
  readonly axes: readonly string[];
}

/** A tensor whose numbers are written in the model. */
interface WrittenTensor {
  readonly given: TensorValue;
  readonly tensor: Tensor;
  readonly declared: readonly number[];
  readonly letter: OrderedLetter;
}

/**
 * Reads probabilities in the index order that the model states, or else in the first order in which the columns sum to
 * 1. Adds a note if several orders fit. Throws a `ProgramError` if no order fits.
 */
export function readOrdered(written: WrittenTensor, { orders, notes }: AgentSource): OrderedTensor {
  const { given, tensor, declared, letter } = written;
  const order = orders.of(given.name, letter);
  if (order && isOrdered(letter, declared)) return readStated(written, order);
  if (order) notes.push(`${order.parameter} is not used for ${given.name}, which depends on several factors.`);
  const found = (letter === "A" ? orientA : orientB)(tensor, declared);
  if (!found || !("tensor" in found)) throw notProbable(given, found?.sum);
  const { layout, alternatives } = found;
  if (alternatives.length > 0)
    notes.push(
      `${given.name} is read as ${layout}; ${alternatives.join(" or ")} would also fit. ` +
        orderAdvice(letter, [layout, ...alternatives]),
    );
  return { tensor: found.tensor, axes: layout.split(" × ") };
}

/** Returns whether the tensor has an index order to state, which applies only to tensors of one factor. */
function isOrdered(letter: OrderedLetter, { length }: readonly number[]): boolean {
  return length === 2 || (letter === "B" && length === 3);
}

function readStated({ given, tensor, declared, letter }: WrittenTensor, order: StatedOrder): OrderedTensor {
  const found = orientStated(tensor, letter, order);
  if (found && "tensor" in found) return { tensor: found.tensor, axes: found.layout.split(" × ") };
  const other = (letter === "A" ? orientA : orientB)(tensor, declared);
  throw notInOrder(given, { letter, order, found, other });
}

interface StatedMisfit {
  readonly letter: OrderedLetter;
  readonly order: StatedOrder;
  readonly found: Misfit | undefined;
  readonly other: TensorOrientation | Misfit | undefined;
}

function notInOrder({ name, tensor }: TensorValue, { letter, order, found, other }: StatedMisfit): ProgramError {
  const problem = found
    ? `the worst column sums to ${round(found.sum)}`
    : `it is ${tensor?.shape.join("×")}, which has other lengths`;
  const advice = other && "tensor" in other ? ` Write ${orderLine(letter, other.layout)}.` : "";
  return new ProgramError(
    name,
    `${name} does not contain probabilities in the order that ${order.parameter} states: ${problem}.${advice}`,
  );
}

/** Converts counts into GNN's index order if they are written in the order of the tensor that they belong to. */
export function turnCounts(tensor: Tensor, letter: OrderedLetter, axes: readonly string[]): Tensor {
  if (axes.join(" × ") === LAYOUTS[letter][0]) return tensor;
  return turnStated(tensor, letter, axes) ?? tensor;
}

function notProbable({ name, shape, tensor }: TensorValue, sum: number | undefined): ProgramError {
  return new ProgramError(
    name,
    sum === undefined
      ? `${name} is ${tensor?.shape.join("×")}, but is declared as ${shape?.join("×")}.`
      : `The columns of ${name} are not probabilities: the worst one sums to ${round(sum)}.`,
  );
}
