import type { Dimension, Variable } from "../language/model.ts";
import { NameTable } from "../language/names.ts";
import { PROFILES } from "../language/profiles.ts";
import type { ModelView } from "../language/view.ts";
import { Suggestions } from "./suggestions.ts";

/** Lengths of a variable's dimensions. An unknown length is `undefined`, with the reason in `problems`. */
export interface DimensionLengths {
  readonly lengths: readonly (number | undefined)[];
  readonly problems: readonly DimensionProblem[];
}

export interface DimensionProblem {
  readonly dimension: Dimension;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly mend?: string;
}

type Length = number | Omit<DimensionProblem, "dimension">;

/** Determines lengths from the numbers in ModelParameters and the lengths of other variables. */
export class Dimensions {
  readonly variables = new NameTable<Variable>();
  readonly suggestions: Suggestions;
  readonly #parameters = new Map<string, number | undefined>();
  readonly #known = new Map<Variable, DimensionLengths>();
  readonly #open = new Set<Variable>();

  constructor({ variables, parameters }: ModelView) {
    for (const variable of variables) this.variables.add(variable.name.text, variable);
    for (const { key, value } of parameters)
      this.#parameters.set(key.text, value.kind === "number" ? value.value : undefined);
    this.suggestions = new Suggestions({ variables: this.variables, parameters: this.#parameters });
  }

  of(variable: Variable): DimensionLengths {
    return plainLengths(variable) ?? this.#known.get(variable) ?? this.#resolveFrom(variable);
  }

  /**
   * Resolves the variables on which a variable's lengths depend, without recursion: a chain of names may be as long as
   * a file.
   */
  #resolveFrom(variable: Variable): DimensionLengths {
    const path = [{ variable, next: 0 }];
    this.#open.add(variable);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const below = this.#unresolvedBehind(top);
      if (below) {
        path.push({ variable: below, next: 0 });
        this.#open.add(below);
      } else {
        this.#known.set(top.variable, this.#resolve(top.variable));
        this.#open.delete(top.variable);
        path.pop();
      }
    }
    return this.#known.get(variable)!;
  }

  /** Returns the next unvisited variable whose length this one depends on. */
  #unresolvedBehind(place: { readonly variable: Variable; next: number }): Variable | undefined {
    const { dimensions } = place.variable;
    while (place.next < dimensions.length) {
      const dimension = dimensions[place.next++]!;
      if (dimension.kind !== "length" && dimension.kind !== "reference") continue;
      const isParameter = dimension.kind === "reference" && this.#parameters.has(dimension.name);
      const below = isParameter ? undefined : this.variables.find(dimension.name);
      if (below && !this.#known.has(below) && !this.#open.has(below)) return below;
    }
    return undefined;
  }

  #resolve(variable: Variable): DimensionLengths {
    const problems: DimensionProblem[] = [];
    const lengths = variable.dimensions.map((dimension) => {
      const length = this.#lengthOf(dimension);
      if (typeof length === "number") return length;
      problems.push({ dimension, ...length });
      return undefined;
    });
    return { lengths, problems };
  }

  /** Returns the lengths if all of them are known. */
  shapeOf(variable: Variable): readonly number[] | undefined {
    const { lengths } = this.of(variable);
    return lengths.every((length) => length !== undefined) ? lengths : undefined;
  }

  #lengthOf(dimension: Dimension): Length {
    switch (dimension.kind) {
      case "size":
        return dimension.size > 0 ? dimension.size : wrong("A dimension must not be 0.");
      case "unknown":
        return wrong(
          `${JSON.stringify(dimension.text)} is not a dimension.`,
          "Write a whole number, a name or len(name).",
        );
      case "length":
        return this.#elementsOf(dimension.name) ?? this.#unknown(dimension.name);
      case "reference":
        return this.#parameter(dimension.name) ?? this.#elementsOf(dimension.name) ?? this.#unknown(dimension.name);
    }
  }

  #parameter(name: string): Length | undefined {
    if (!this.#parameters.has(name)) return undefined;
    const value = this.#parameters.get(name);
    if (value !== undefined && Number.isInteger(value) && value > 0) return value;
    return wrong(`The parameter ${name} is not a whole number above 0, so it cannot be a dimension.`);
  }

  /** Returns the number of elements of a variable, if it is known. */
  #elementsOf(name: string): Length | undefined {
    const variable = this.variables.find(name);
    if (!variable) return undefined;
    if (this.#open.has(variable)) return wrong(`The length of ${name} depends on itself.`);
    const shape = this.shapeOf(variable);
    if (shape) return shape.reduce((product, length) => product * length, 1);
    return { severity: "warning", message: `The length of ${name} is unknown.` };
  }

  #unknown(name: string): Length {
    if (TYPES.has(name))
      return {
        severity: "warning",
        message: `${name} is a type, but a length is expected.`,
        mend: `Write type=${name}.`,
      };
    const near = this.suggestions.length(name);
    return {
      severity: "warning",
      message: `${name} is neither a number of ModelParameters nor a variable, so the length is unknown.`,
      mend: near === undefined ? `Add "${name}: 3" to ModelParameters.` : `Write ${near}.`,
    };
  }
}

/**
 * Returns the lengths of a variable if all are written as numbers, as usual. They depend on nothing, so they are not
 * cached.
 */
function plainLengths({ dimensions }: Variable): DimensionLengths | undefined {
  const lengths: number[] = [];
  for (const dimension of dimensions) {
    if (dimension.kind !== "size" || dimension.size === 0) return undefined;
    lengths.push(dimension.size);
  }
  return { lengths, problems: NONE };
}

/** Types of all profiles. A type among the lengths means that `type=` is missing. */
const TYPES = new Set(Object.values(PROFILES).flatMap(({ types }) => types));

const NONE: DimensionLengths["problems"] = [];

function wrong(message: string, mend?: string): Length {
  return { severity: "error", message, ...(mend === undefined ? {} : { mend }) };
}
