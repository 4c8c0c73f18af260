import type { Dimension, Variable } from "../language/model.ts";
import { timeShift } from "../language/names.ts";
import { edgesOf, timeOf, type ModelView } from "../language/view.ts";

/**
 * Estimates with the field names of the type checkers of 2025. The memory is comparable with their figures. The
 * inference units are not: those tools counted comment lines of Equations, and read less of Time and of the edges.
 */
export interface ResourceEstimates {
  readonly memory_estimate_kb: number;
  readonly inference_estimate_units: number;
}

const TYPE_BYTES: Readonly<Record<string, number>> = {
  float: 4,
  double: 8,
  int: 4,
  long: 8,
  bool: 1,
  string: 16,
  categorical: 4,
};
const TYPE_FACTORS: Readonly<Record<string, number>> = {
  float: 1,
  double: 1.8,
  int: 0.8,
  bool: 0.5,
  string: 1.2,
  categorical: 1.1,
};
const BASES = { Static: 1, Dynamic: 2.5, Hierarchical: 3.5 } as const;
/** Value of `len(π)`. Any other named length counts as 1. */
const POLICY_LENGTH = 3;

/**
 * Returns memory and cost of one model by the formulas of the first GNN tools, independent of the real needs of a
 * program.
 */
export function seedEraEstimates(view: ModelView): ResourceEstimates {
  return { memory_estimate_kb: bytesOf(view) / 1024, inference_estimate_units: unitsOf(view) };
}

function bytesOf({ variables }: ModelView): number {
  return sum(variables, (variable) => (TYPE_BYTES[typeOf(variable)] ?? TYPE_BYTES["float"]!) * elementsOf(variable));
}

function unitsOf(view: ModelView): number {
  const variables = sum(view.variables, (variable) => factorOf(variable) * Math.log2(elementsOf(variable) + 1));
  const edges = sum(edgesOf(view).edges, ({ source, target }) => (timeShift(source) || timeShift(target) ? 1 : 0.5));
  const equations = sum(view.equations, ({ text }) => costOf(text));
  return 4 * BASES[kindOf(view)] + 2.5 * variables + edges + 2.5 * equations;
}

function kindOf(view: ModelView): keyof typeof BASES {
  const isHierarchical =
    view.model.sections.some(({ name }) => /hierarchical/i.test(name)) ||
    view.variables.some(({ name }) => /_level\d+$/.test(name.text));
  return isHierarchical ? "Hierarchical" : (timeOf(view).kind ?? "Static");
}

function typeOf({ type }: Variable): string {
  return type?.text ?? "float";
}

function factorOf(variable: Variable): number {
  return TYPE_FACTORS[typeOf(variable)] ?? 1;
}

function elementsOf({ dimensions }: Variable): number {
  return dimensions.reduce((product, dimension) => product * lengthOf(dimension), 1);
}

function lengthOf(dimension: Dimension): number {
  if (dimension.kind === "size") return dimension.size;
  return dimension.kind === "length" ? POLICY_LENGTH : 1;
}

function costOf(equation: string): number {
  const has = (...words: readonly string[]): boolean => words.some((word) => equation.includes(word));
  return 2 + (has("softmax", "sigma") ? 1.5 : 0) + (has("^") ? 1 : 0) + (has("sum", "∑") ? 1 : 0);
}

function sum<T>(items: readonly T[], cost: (item: T) => number): number {
  return items.reduce((total, item) => total + cost(item), 0);
}
