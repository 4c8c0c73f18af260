import { sameShape, squeeze, stridesOf, type Tensor } from "../checks/tensor.ts";
import type { TensorValue, Numbers } from "./numbers.ts";
import { ProgramError } from "./program-error.ts";

/** Normalises columns so that they sum to exactly 1, even if few digits are written. */
export function normalised({ shape, data }: Tensor): Tensor {
  const columns = data.length / shape[0]!;
  const result = Float64Array.from(data);
  for (let column = 0; column < columns; column += 1) {
    let sum = 0;
    for (let at = column; at < data.length; at += columns) sum += data[at]!;
    for (let at = column; at < data.length; at += columns) result[at]! /= sum;
  }
  return { shape, data: result };
}

/** Returns a vector that is written as a row or as a column. */
export function vectorOf(given: TensorValue, length: number, numbers: Numbers): Float64Array | undefined {
  const { name, tensor, filler } = given;
  if (!tensor && !filler) return undefined;
  if (filler === "eye")
    throw new ProgramError(name, `${name} is a vector of ${length} numbers, so it cannot be an identity.`);
  const data = tensor?.data ?? numbers.filled(name, [length], fillOf(filler!, length)).data;
  if (data.length === length && squeeze((tensor ?? { shape: [] }).shape).length <= 1) return data;
  throw new ProgramError(
    name,
    `${name} must be a vector of ${length} numbers, but is ${(tensor?.shape ?? []).join("×")}.`,
  );
}

function fillOf(filler: "uniform" | "zeros" | "ones", length: number): number {
  return filler === "uniform" ? 1 / length : filler === "ones" ? 1 : 0;
}

/** Returns the tensor of a filler: uniform columns, or the identity for each action. */
export function filledTensor({ name, filler }: TensorValue, shape: readonly number[], numbers: Numbers): Tensor {
  if (filler === "eye") return identity(name, shape, numbers);
  return numbers.filled(name, shape, fillOf(filler as "uniform" | "zeros" | "ones", shape[0]!));
}

export function identity(name: string, shape: readonly number[], numbers: Numbers): Tensor {
  const [rows, columns] = shape;
  if (rows === undefined || rows !== columns || shape.length > 3)
    throw new ProgramError(name, `${name} is ${shape.join("×")}, but an identity must be square.`);
  const tensor = numbers.filled(name, shape, 0);
  const [down, right] = stridesOf(shape);
  for (let at = 0; at < rows; at += 1)
    for (let action = 0; action < (shape[2] ?? 1); action += 1) tensor.data[at * (down! + right!) + action] = 1;
  return tensor;
}

/** Returns the tensor in the given shape. Throws if the shapes differ in more than dimensions of length 1. */
export function inShape({ name, tensor }: TensorValue, shape: readonly number[]): Tensor {
  if (tensor && sameShape(squeeze(tensor.shape), squeeze(shape))) return { shape, data: tensor.data };
  throw new ProgramError(name, `${name} must be ${shape.join("×")}, but is ${(tensor?.shape ?? []).join("×")}.`);
}

/** Rounds a number to six significant digits for messages. */
export function round(number: number): number {
  return Number(number.toPrecision(6));
}
