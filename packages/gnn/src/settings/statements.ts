import { readTensor } from "../checks/tensor.ts";
import type { Assignment, Mapping, Parameter, Value } from "../language/model.ts";
import type { Span } from "../language/source.ts";
import type { ModelView } from "../language/view.ts";
import { flagOf } from "./flags.ts";
import { PRECISION_NAMES } from "./names.ts";
import { statedParameters } from "./parameters.ts";

/** A setting with a value that cannot be used. */
export interface SettingProblem {
  readonly name: string;
  readonly span: Span;
  readonly message: string;
}

/** One statement of a setting. */
export interface SettingStatement {
  readonly name: string;
  readonly span: Span;
  readonly value: Value;
}

/** Words that mean "not stated". */
const ABSENT = /^(?:none|null|default|auto)$/i;
/** Ontology terms that are precisions. `γ=ConstraintParameter` states another quantity. */
const PRECISION_TERM = /precision|temperature/i;

/**
 * Finds the statements of a setting by its names: in ModelParameters, and for precisions (`γ`, `omega`) also among the
 * values. Records the names that were used.
 */
export class SettingStatements {
  readonly usedParameters = new Set<string>();
  readonly usedValues = new Set<string>();
  readonly problems: SettingProblem[] = [];
  readonly notes: string[] = [];
  readonly #parameters: ReadonlyMap<string, Parameter>;
  readonly #values: ReadonlyMap<string, Assignment>;
  readonly #terms: ReadonlyMap<string, Mapping>;

  constructor(view: ModelView) {
    const { values, mappings } = view;
    // The last statement of a name applies.
    this.#parameters = new Map(statedParameters(view).map((parameter) => [parameter.key.text, parameter]));
    this.#values = new Map(values.map((value) => [value.name.text, value]));
    this.#terms = new Map(mappings.map((mapping) => [mapping.name.text, mapping]));
  }

  /** Returns a number that at least one of the names states. The first name has priority; contradictions are noted. */
  number(names: readonly string[], rule: NumberRule): { readonly name: string; readonly value: number } | undefined {
    let found: { readonly name: string; readonly value: number } | undefined;
    for (const statement of this.#stated(names)) {
      const value = numberOf(statement.value);
      if (value === undefined || !isAllowed(value, rule)) {
        this.#refuse(statement, rule);
        continue;
      }
      found ??= { name: statement.name, value };
      if (value === found.value) continue;
      this.notes.push(
        `${found.name} is ${found.value} and ${statement.name} is ${value}; the program uses ${found.name}.`,
      );
    }
    return found;
  }

  /** Returns a word that one of the names states, if it is allowed. */
  word<T extends string>(names: readonly string[], allowed: readonly T[]): T | undefined {
    for (const { name, span, value } of this.#stated(names)) {
      const text = value.kind === "word" || value.kind === "string" ? value.text.toLowerCase() : "";
      const found = allowed.find((one) => one === text);
      if (found !== undefined) return found;
      this.problems.push({ name, span, message: `${name} must be ${allowed.join(" or ")}, got ${shown(value)}.` });
    }
    return undefined;
  }

  /** Returns a truth value that one of the names states. The first name has priority. */
  flag(names: readonly string[]): boolean | undefined {
    for (const { name, span, value } of this.#stated(names)) {
      const found = flagOf(value);
      if (found !== undefined) return found;
      this.problems.push({ name, span, message: `${name} must be True or False, got ${shown(value)}.` });
    }
    return undefined;
  }

  parameter(name: string): Parameter | undefined {
    return this.#parameters.get(name);
  }

  #stated(names: readonly string[]): readonly SettingStatement[] {
    return names.flatMap((name) => [...this.#ofParameters(name), ...this.#ofValues(name)]);
  }

  #ofParameters(name: string): readonly SettingStatement[] {
    const parameter = this.#parameters.get(name);
    if (!parameter) return [];
    this.usedParameters.add(name);
    const { key, value } = parameter;
    return value.kind === "word" && ABSENT.test(value.text) ? [] : [{ name, span: key.span, value }];
  }

  /** Returns the value of a precision, if it is one number and no ontology term contradicts it. */
  #ofValues(name: string): readonly SettingStatement[] {
    const assignment = PRECISION_NAMES.has(name) ? this.#values.get(name) : undefined;
    const term = this.#terms.get(name)?.term.text;
    if (!assignment || (term !== undefined && !PRECISION_TERM.test(term))) return [];
    if (numberOf(assignment.value) === undefined) return [];
    this.usedValues.add(name);
    return [{ name, span: assignment.name.span, value: assignment.value }];
  }

  #refuse({ name, span, value }: SettingStatement, { whole, lowest, isAbove }: NumberRule): void {
    const kind = whole ? "a whole number" : "a number";
    // A common learning rate is read for each letter.
    if (this.problems.some((problem) => problem.name === name)) return;
    const limit = isAbove ? `above ${lowest}` : `of at least ${lowest}`;
    this.problems.push({ name, span, message: `${name} must be ${kind} ${limit}, got ${shown(value)}.` });
  }
}

export interface NumberRule {
  readonly whole: boolean;
  readonly lowest: number;
  /** True if `lowest` itself is not allowed. */
  readonly isAbove?: boolean;
}

function isAllowed(value: number, { whole, lowest, isAbove }: NumberRule): boolean {
  if (whole ? !Number.isSafeInteger(value) : !Number.isFinite(value)) return false;
  return isAbove ? value > lowest : value >= lowest;
}

const NUMBER = /^[+-]?\d{1,15}(?:\.\d{1,15})?(?:e[+-]?\d{1,3})?$/i;

/** Returns the number of a value that is a single number, also in brackets or quotes. */
function numberOf(value: Value): number | undefined {
  if (value.kind === "string") return NUMBER.test(value.text) ? Number(value.text) : undefined;
  const reading = readTensor(value);
  return reading.kind === "tensor" && reading.tensor.data.length === 1 ? reading.tensor.data[0] : undefined;
}

function shown(value: Value): string {
  if (value.kind === "number") return String(value.value);
  return value.kind === "word" || value.kind === "string" ? JSON.stringify(value.text) : "a list";
}
