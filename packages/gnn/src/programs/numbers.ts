import { readTensor, type Tensor } from "../checks/tensor.ts";
import { Dimensions } from "../checks/dimensions.ts";
import type { Assignment, Value, Variable } from "../language/model.ts";
import type { ModelView } from "../language/view.ts";
import { statedParameters } from "../settings/parameters.ts";
import { PROGRAM_LIMITS } from "./limits.ts";
import { ProgramError } from "./program-error.ts";

/** Word that is written instead of a whole tensor. */
export type Filler = "uniform" | "zeros" | "ones" | "eye";

/** A tensor as written in the model: its numbers or its filler, and the declared shape. */
export interface TensorValue {
  readonly name: string;
  readonly shape?: readonly number[];
  readonly tensor?: Tensor;
  readonly filler?: Filler;
}

const FILLERS: Readonly<Record<string, Filler>> = {
  uniform: "uniform",
  zeros: "zeros",
  ones: "ones",
  eye: "eye",
  identity: "eye",
};

/** Tensors of a model by name. Reads at most as many numbers as `PROGRAM_LIMITS` allows. */
export class Numbers {
  readonly #values: ReadonlyMap<string, Assignment>;
  readonly #variables = new Map<string, Variable>();
  readonly #parameters: ReadonlyMap<string, Value>;
  readonly #dimensions: Dimensions;
  readonly #usedValues = new Set<string>();
  readonly #usedParameters = new Set<string>();
  #count = 0;

  constructor(view: ModelView) {
    this.#values = new Map(view.values.map((value) => [value.name.text, value]));
    for (const variable of view.variables)
      if (!this.#variables.has(variable.name.text)) this.#variables.set(variable.name.text, variable);
    this.#parameters = new Map(statedParameters(view).map(({ key, value }) => [key.text, value]));
    this.#dimensions = new Dimensions(view);
  }

  /** Returns the names with a value or a declaration, in order. */
  names(): readonly string[] {
    return [...new Set([...this.#variables.keys(), ...this.#values.keys()])];
  }

  has(name: string): boolean {
    return this.#values.has(name) || this.#variables.has(name);
  }

  hasValue(name: string): boolean {
    return this.#values.has(name);
  }

  /** Names of values that were read. */
  get usedValues(): ReadonlySet<string> {
    return this.#usedValues;
  }

  /** Names of parameters that were read. */
  get usedParameters(): ReadonlySet<string> {
    return this.#usedParameters;
  }

  /** Returns a parameter that is a whole number above 0; undefined otherwise. */
  parameter(name: string): number | undefined {
    const value = this.#parameters.get(name);
    if (value) this.#usedParameters.add(name);
    return value?.kind === "number" && Number.isInteger(value.value) && value.value > 0 ? value.value : undefined;
  }

  /** Like `parameter`, but throws if the value exists and is not a valid number. */
  expectedParameter(name: string): number | undefined {
    const number = this.parameter(name);
    if (number !== undefined || !this.#parameters.has(name)) return number;
    throw new ProgramError(name, `${name} must be a whole number of at least 1. Correct it, or remove the line.`);
  }

  /** Returns a parameter's word as written. */
  word(name: string): string | undefined {
    const value = this.#parameters.get(name);
    if (value) this.#usedParameters.add(name);
    return value?.kind === "word" || value?.kind === "string" ? value.text : undefined;
  }

  /** Returns the value of a tensor. Throws a `ProgramError` if it is not a tensor of numbers. */
  given(name: string): TensorValue {
    this.#usedValues.add(name);
    const variable = this.#variables.get(name);
    const declared = this.#declared(name, variable);
    const value = this.#values.get(name)?.value;
    const reading = value && readTensor(value);
    if (reading?.kind === "ragged")
      throw new ProgramError(name, `The value of ${name} is not a tensor. ${reading.message}`);
    if (reading?.kind === "tensor") {
      this.count(name, reading.tensor.data.length);
      finite(name, reading.tensor.data);
      return { ...declared, tensor: reading.tensor };
    }
    const word = reading?.word ?? variable?.default?.text;
    return word === undefined ? declared : this.#byWord(declared, word);
  }

  #declared(name: string, variable: Variable | undefined): TensorValue {
    const shape = variable && this.#dimensions.shapeOf(variable);
    return shape ? { name, shape } : { name };
  }

  #byWord(declared: TensorValue, word: string): TensorValue {
    const { name, shape } = declared;
    if (Object.hasOwn(FILLERS, word)) return { ...declared, filler: FILLERS[word]! };
    const number = Number(word);
    if (shape && Number.isFinite(number)) return { ...declared, tensor: this.filled(name, shape, number) };
    throw new ProgramError(
      name,
      `${name} is ${JSON.stringify(word)}, which is not a tensor of numbers. Add ${name}={…} to ` +
        "InitialParameterization.",
    );
  }

  filled(name: string, shape: readonly number[], number: number): Tensor {
    const length = shape.reduce((product, one) => product * one, 1);
    this.count(name, length);
    return { shape, data: new Float64Array(length).fill(number) };
  }

  count(name: string, numbers: number): void {
    this.#count += numbers;
    if (this.#count <= PROGRAM_LIMITS.numbers) return;
    throw new ProgramError(
      name,
      `With ${name} the model has more than ${PROGRAM_LIMITS.numbers.toLocaleString("en")} numbers, which is too much.`,
    );
  }
}

function finite(name: string, data: Float64Array): void {
  const strange = data.find((number) => !Number.isFinite(number));
  if (strange !== undefined) throw new ProgramError(name, `${name} contains ${strange}; write a number instead.`);
}
