import type { Value } from "../language/model.ts";

/** Numbers in written order, with the length of each dimension. A single number has no dimension. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** Kind of a value: numbers, a placeholder (`{ }`, a word or a description), or not a tensor. */
export type TensorReading =
  | { readonly kind: "tensor"; readonly tensor: Tensor }
  | { readonly kind: "placeholder"; readonly word?: string }
  | { readonly kind: "ragged"; readonly at: number; readonly message: string };

export function readTensor(value: Value): TensorReading {
  if (value.kind === "word") return { kind: "placeholder", word: value.text };
  if (isPlaceholder(value)) return { kind: "placeholder" };
  const shape = shapeOf(value);
  // Allocates only the numbers that exist: the first groups may imply a size far above the written one.
  const data = new Float64Array(countNumbers(value));
  const filler = new TensorFiller(shape, data);
  const problem = filler.fill(value, 0);
  return problem ?? { kind: "tensor", tensor: { shape, data } };
}

function isPlaceholder(value: Value): boolean {
  if (value.kind === "string" || value.kind === "entry") return true;
  return value.kind === "group" && value.items.every(isPlaceholder);
}

/** Returns the shape of a nested value, measured on the first item of each level. */
function shapeOf(value: Value): readonly number[] {
  const shape: number[] = [];
  for (let at: Value | undefined = value; at?.kind === "group"; at = at.items[0]) shape.push(at.items.length);
  return shape;
}

function countNumbers(value: Value): number {
  if (value.kind !== "group") return value.kind === "number" ? 1 : 0;
  return value.items.reduce((count, item) => count + countNumbers(item), 0);
}

class TensorFiller {
  readonly #shape: readonly number[];
  readonly #data: Float64Array;
  #next = 0;

  constructor(shape: readonly number[], data: Float64Array) {
    this.#shape = shape;
    this.#data = data;
  }

  fill(value: Value, depth: number): TensorReading | undefined {
    if (value.kind === "number") {
      if (depth < this.#shape.length) return ragged(value.at, "A group of numbers is expected, not a number.");
      this.#data[this.#next++] = value.value;
      return undefined;
    }
    if (value.kind !== "group") return ragged(value.at, `A number is expected, not ${shown(value)}.`);
    const length = this.#shape[depth];
    if (length === undefined) return ragged(value.at, "A number is expected, not a group.");
    if (value.items.length !== length)
      return ragged(
        value.at,
        `The group has ${value.items.length} items, but the first group at its level has ${length}.`,
      );
    for (const item of value.items) {
      const problem = this.fill(item, depth + 1);
      if (problem) return problem;
    }
    return undefined;
  }
}

function ragged(at: number, message: string): TensorReading {
  return { kind: "ragged", at, message };
}

function shown(value: Value): string {
  return value.kind === "word" || value.kind === "string" ? JSON.stringify(value.text) : "A description";
}

/** Returns the lengths without those of 1. */
export function squeeze(shape: readonly number[]): readonly number[] {
  return shape.filter((length) => length !== 1);
}

export function sameShape(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((length, index) => length === other[index]);
}

export function reshape({ data }: Tensor, shape: readonly number[]): Tensor {
  return { shape, data };
}

/**
 * Returns the tensor with its dimensions in another order: dimension `i` of the result is dimension `order[i]` of the
 * tensor.
 */
export function transpose({ shape, data }: Tensor, order: readonly number[]): Tensor {
  const strides = stridesOf(shape);
  const target = order.map((dimension) => shape[dimension]!);
  const steps = order.map((dimension) => strides[dimension]!);
  const result = new Float64Array(data.length);
  const index = target.map(() => 0);
  let from = 0;
  for (let to = 0; to < result.length; to += 1) {
    result[to] = data[from]!;
    for (let dimension = target.length - 1; dimension >= 0; dimension -= 1) {
      from += steps[dimension]!;
      index[dimension]! += 1;
      if (index[dimension]! < target[dimension]!) break;
      from -= steps[dimension]! * target[dimension]!;
      index[dimension] = 0;
    }
  }
  return { shape: target, data: result };
}

export function stridesOf(shape: readonly number[]): number[] {
  const strides = shape.map(() => 1);
  for (let dimension = shape.length - 2; dimension >= 0; dimension -= 1)
    strides[dimension] = strides[dimension + 1]! * shape[dimension + 1]!;
  return strides;
}

export function equalTensors(one: Tensor, other: Tensor): boolean {
  return sameShape(one.shape, other.shape) && one.data.every((number, index) => number === other.data[index]);
}

/** Returns the sum along one dimension that differs most from 1, with its index. */
export function worstSum({ shape, data }: Tensor, dimension: number): { readonly sum: number; readonly index: number } {
  const stride = stridesOf(shape)[dimension]!;
  const length = shape[dimension]!;
  let worst = { sum: 1, index: 0 };
  for (let start = 0, index = 0; start < data.length; start += 1) {
    if (Math.floor(start / stride) % length !== 0) continue;
    let sum = 0;
    for (let step = 0; step < length; step += 1) sum += data[start + step * stride]!;
    if (!(Math.abs(sum - 1) <= Math.abs(worst.sum - 1))) worst = { sum, index };
    index += 1;
  }
  return worst;
}
