import type { Assignment } from "../language/model.ts";
import {
  isOne,
  isProbable,
  LAYOUTS,
  orientA,
  orientB,
  orientStated,
  type Misfit,
  type TensorOrientation,
} from "./conventions.ts";
import type { CheckContext } from "./context.ts";
import { orderAdvice, type OrderedLetter, type StatedOrder } from "../settings/orders.ts";
import { reshape, squeeze, type Tensor } from "./tensor.ts";

interface AssignedTensor {
  readonly assignment: Assignment;
  readonly tensor: Tensor;
  /** Declared shape. Without a declaration, the shape of the written value. */
  readonly shape: readonly number[] | undefined;
}

/** Checks that each column of A, B and D sums to 1, and reports the index order of an unusual tensor. */
export function checkProbabilities(context: CheckContext, { assignment, tensor, shape }: AssignedTensor): void {
  const family = context.families.get(assignment.name.text);
  if (tensor.data.length === 0 || !family) return;
  const declared = shape ?? tensor.shape;
  const { letter } = family;
  if (letter === "D") checkVector(context, assignment, tensor);
  else if (letter === "A" || letter === "B") checkColumns(context, { assignment, tensor, declared, letter });
}

interface ColumnTensor {
  readonly assignment: Assignment;
  readonly letter: OrderedLetter;
  readonly tensor: Tensor;
  readonly declared: readonly number[];
}

/** The index order of a tensor applies only with one factor. With several factors, `B` is read like a likelihood. */
function checkColumns(context: CheckContext, given: ColumnTensor): void {
  const { assignment, tensor, declared, letter } = given;
  const isOrdered = declared.length === 2 || (letter === "B" && declared.length === 3);
  const order = isOrdered ? context.orders.of(assignment.name.text, letter) : undefined;
  if (order) tellStated(context, { ...given, order });
  else if (letter === "B" && isOrdered)
    tell(context, { assignment, letter, usual: LAYOUTS.B[0], found: orientB(tensor, declared) });
  else if (declared.length >= 2)
    tell(context, { assignment, letter, usual: LAYOUTS.A[0], found: orientA(tensor, declared) });
}

interface StatedFinding extends ColumnTensor {
  readonly order: StatedOrder;
}

/** Reports a tensor whose columns do not sum to 1 in the index order that the model states. */
function tellStated({ reporter }: CheckContext, { assignment, letter, order, tensor, declared }: StatedFinding): void {
  const { text, span } = assignment.name;
  const found = orientStated(tensor, letter, order);
  if (found && "tensor" in found) return;
  const other = (letter === "A" ? orientA : orientB)(tensor, declared);
  const message = found
    ? `The columns of ${text} are not probabilities in the order that ${order.parameter} states: the worst one sums ` +
      `to ${shown(found.sum)}.`
    : `${text} is ${tensor.shape.join("×")}, which does not fit the order that ${order.parameter} states.`;
  const mend =
    other && "tensor" in other ? orderAdvice(letter, [other.layout]) : `Correct ${order.parameter} or ${text}.`;
  reporter.report({ code: "E011", span, message, mend });
}

function checkVector({ reporter }: CheckContext, { name }: Assignment, tensor: Tensor): void {
  if (squeeze(tensor.shape).length > 1) return;
  const sum = tensor.data.reduce((total, number) => total + number, 0);
  const flat = reshape(tensor, [tensor.data.length]);
  if (isOne(sum, flat) && isProbable(flat)) return;
  const message = isProbable(flat)
    ? `The probabilities of ${name.text} sum to ${shown(sum)}, not to 1.`
    : `${name.text} contains numbers that are not probabilities.`;
  reporter.report({ code: "E011", span: name.span, message });
}

interface LayoutFinding {
  readonly assignment: Assignment;
  readonly letter: OrderedLetter;
  readonly usual: string;
  readonly found: TensorOrientation | Misfit | undefined;
}

function tell({ reporter }: CheckContext, { assignment, letter, usual, found }: LayoutFinding): void {
  const { text, span } = assignment.name;
  if (!found) return;
  if (!("tensor" in found)) {
    const message =
      found.number === undefined
        ? `The columns of ${text} are not probabilities: read as ${found.layout}, the worst one sums to ` +
          `${shown(found.sum)}.`
        : `${text} contains numbers that are not probabilities, such as ${shown(found.number)}.`;
    reporter.report({ code: "E011", span, message, mend: "Each column must have numbers from 0 to 1 that sum to 1." });
  } else if (found.layout === "state × observation") {
    const message = `The rows of ${text} sum to 1 and its columns do not, so it is read as ${found.layout}.`;
    reporter.report({ code: "W012", span, message, mend: "GNN defines A[observation,state]: transpose it." });
  } else if (found.layout !== usual)
    reporter.report({
      code: "N006",
      span,
      message: `${text} is read as ${found.layout}, because its columns then sum to 1.`,
    });
  if ("tensor" in found && found.alternatives.length > 0)
    reporter.report({
      code: "N002",
      span,
      message: `${text} is read as ${found.layout}; ${found.alternatives.join(" or ")} would also fit.`,
      mend: orderAdvice(letter, [found.layout, ...found.alternatives]),
    });
}

function shown(sum: number): string {
  return Number.isFinite(sum) ? String(Number(sum.toPrecision(6))) : String(sum);
}
