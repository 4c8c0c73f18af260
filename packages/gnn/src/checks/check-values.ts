import type { Assignment, Variable } from "../language/model.ts";
import type { CheckContext } from "./context.ts";
import { checkProbabilities } from "./check-probabilities.ts";
import { orientStated } from "./conventions.ts";
import { isLinearGaussian, isLinearGaussianName } from "./families.ts";
import { readTensor, sameShape, squeeze, type Tensor } from "./tensor.ts";

/** Words that stand for a whole tensor. */
const FILLERS = new Set(["uniform", "zeros", "ones", "eye", "random", "identity"]);

/** Checks that each value belongs to a variable, has its dimensions, and contains probabilities if required. */
export function checkValues(context: CheckContext): void {
  const { view, variables, reporter } = context;
  const last = new Map<string, Assignment>();
  for (const assignment of view.values) last.set(assignment.name.text, assignment);
  const isContinuous = isLinearGaussian(last);
  for (const assignment of view.values) {
    const { text, span } = assignment.name;
    if (last.get(text) !== assignment) {
      reporter.report({ code: "W007", span, message: `${text} gets another value below, which applies.` });
      continue;
    }
    const variable = variables.has(text) ? variables.find(text) : undefined;
    if (isContinuous && isLinearGaussianName(text)) checkLinear(context, assignment, variable);
    else if (variable) checkDeclared(context, assignment, variable);
    else checkUndeclared(context, assignment);
  }
  checkMissing(context, last);
}

function checkDeclared(context: CheckContext, assignment: Assignment, variable: Variable): void {
  const tensor = tensorOf(context, assignment);
  if (tensor) checkTensor(context, { variable, assignment, tensor });
}

/**
 * Reports values of undeclared names. An undeclared name may be a setting, except for names of the model's matrices.
 */
function checkUndeclared(context: CheckContext, assignment: Assignment): void {
  const tensor = context.families.has(assignment.name.text) ? tensorOf(context, assignment) : undefined;
  if (context.declares) undeclared(context, assignment);
  if (tensor) checkProbabilities(context, { assignment, tensor, shape: undefined });
}

/** Returns the numbers of a value, and reports a value without numbers. */
function tensorOf({ reporter }: CheckContext, { name, value }: Assignment): Tensor | undefined {
  const reading = readTensor(value);
  if (reading.kind === "tensor") return reading.tensor;
  if (reading.kind === "ragged") {
    // The unreadable value is already reported.
    if (reporter.hasAt("E007", reading.at)) return undefined;
    const message = `The value of ${name.text} is not a tensor. ${reading.message}`;
    reporter.report({ code: "E007", span: { from: reading.at, to: reading.at + 1 }, message });
  } else if (reading.word !== undefined && !FILLERS.has(reading.word)) {
    const message = `${JSON.stringify(reading.word)} is not a valid value for ${name.text}.`;
    reporter.report({ code: "E007", severity: "warning", span: name.span, message, mend: `Write ${name.text}={(…)}.` });
  }
  return undefined;
}

function undeclared({ suggestions, reporter }: CheckContext, { name }: Assignment): void {
  if (reporter.leavesOut("W003")) return;
  const near = suggestions.variable(name.text);
  reporter.report({
    code: "W003",
    span: name.span,
    message: `${name.text} has a value, but is not declared in StateSpaceBlock.`,
    mend:
      near === undefined
        ? `Declare ${name.text}[…] there.`
        : `Write ${near}, or declare ${name.text}[…] in StateSpaceBlock.`,
  });
}

/**
 * Checks the values of a linear-Gaussian model. F is the free energy among variables and the transition among values,
 * so the value of F is not compared with the declaration.
 */
function checkLinear(context: CheckContext, assignment: Assignment, variable: Variable | undefined): void {
  const { name, value } = assignment;
  const tensor = variable && tensorOf(context, assignment);
  const shape = variable && context.dimensions.shapeOf(variable);
  if (shape && tensor && fits(tensor.shape, shape)) return;
  const because = variable ? "is declared as something else, and" : "is not declared, and";
  const message = `${name.text} ${because} read as a parameter of the linear-Gaussian model.`;
  context.reporter.report({ code: "N003", span: { from: name.span.from, to: value.at }, message });
}

interface VariableAssignment {
  readonly variable: Variable;
  readonly assignment: Assignment;
  readonly tensor: Tensor;
}

function checkTensor(context: CheckContext, { variable, assignment, tensor }: VariableAssignment): void {
  const { reporter, dimensions } = context;
  const { name, span } = assignment;
  const { lengths } = dimensions.of(variable);
  const shape = dimensions.shapeOf(variable);
  if (shape ? !fitsStated(context, { variable, assignment, tensor }, shape) : !mayFit(tensor.shape, lengths)) {
    const declared = lengths.map((length) => length ?? "?").join("×");
    const { line } = reporter.source.position(variable.name.span.from);
    reporter.report({
      code: "E002",
      span: { from: name.span.from, to: Math.min(span.to, assignment.value.at + 1) },
      message: `The value of ${name.text} is ${shownShape(tensor.shape)}, but line ${line} declares ${declared}.`,
      mend: mendShape(tensor.shape, shape, line),
    });
    return;
  }
  checkType(context, { variable, assignment, tensor });
  checkProbabilities(context, { assignment, tensor, shape });
}

function checkType({ reporter }: CheckContext, { variable, assignment, tensor }: VariableAssignment): void {
  const type = variable.type?.text;
  const isWrong =
    (type === "int" || type === "long") && !tensor.data.every((number) => Number.isInteger(number))
      ? "has numbers with fractions"
      : type === "bool" && !tensor.data.every((number) => number === 0 || number === 1)
        ? "has numbers other than 0 and 1"
        : undefined;
  if (isWrong === undefined) return;
  const message = `${assignment.name.text} is declared as ${type}, but ${isWrong}.`;
  reporter.report({ code: "E010", severity: "warning", span: assignment.name.span, message });
}

/** Returns whether a value has the declared lengths, in the index order that the model states, if it states one. */
function fitsStated(
  { families, orders }: CheckContext,
  { assignment: { name }, tensor }: VariableAssignment,
  declared: readonly number[],
): boolean {
  if (fits(tensor.shape, declared)) return true;
  const letter = families.get(name.text)?.letter;
  const order = letter === "A" || letter === "B" ? orders.of(name.text, letter) : undefined;
  const found = order && orientStated(tensor, letter as "A" | "B", order);
  return found !== undefined && (!("tensor" in found) || sameShape(squeeze(found.tensor.shape), squeeze(declared)));
}

/**
 * Returns whether the written shape equals the declared one, ignoring dimensions of length 1. A tensor with three
 * dimensions may also have its last dimension first, as a matrix for each action.
 */
export function fits(written: readonly number[], declared: readonly number[]): boolean {
  if (sameShape(squeeze(written), squeeze(declared))) return true;
  if (declared.length !== 3) return false;
  const [first, second, third] = declared;
  return [
    [third!, first!, second!],
    [third!, second!, first!],
  ].some((turned) => sameShape(squeeze(written), squeeze(turned)));
}

/** Returns whether a shape is possible if some declared lengths are unknown: all known lengths must occur in it. */
function mayFit(written: readonly number[], declared: readonly (number | undefined)[]): boolean {
  if (written.length !== declared.length) return true;
  const known = declared.filter((length) => length !== undefined);
  return known.every((length) => length === 1 || written.includes(length));
}

function mendShape(written: readonly number[], declared: readonly number[] | undefined, line: number): string {
  if (declared?.length !== 2 || !sameShape(written.toReversed(), declared)) return "Change one of the two.";
  return `It is transposed: write ${declared.join(" rows of ")}, or change line ${line}.`;
}

function shownShape(shape: readonly number[]): string {
  return shape.length === 0 ? "a single number" : shape.join("×");
}

/** Reports A, B and D that a program needs and that have neither a value nor a default. */
function checkMissing({ view, families, reporter }: CheckContext, given: ReadonlyMap<string, Assignment>): void {
  for (const { name, default: start } of view.variables) {
    const family = families.get(name.text);
    if (!family || start || !["A", "B", "D"].includes(family.letter)) continue;
    const value = given.get(name.text)?.value;
    // An unreadable value is already reported. A word is a valid filler or also already reported.
    if (value && (value.kind === "word" || readTensor(value).kind !== "placeholder")) continue;
    const message =
      `${name.text} has no numbers${value ? " but a placeholder" : ""}; ` + "programs made from the model need them.";
    reporter.report({
      code: "N001",
      span: name.span,
      message,
      mend: `Add ${name.text}={…} to InitialParameterization.`,
    });
  }
}
