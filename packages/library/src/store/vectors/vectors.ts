/** Returns the cosine of two vectors of length 1. The second vector begins at `start`. */
export function dot(vector: Float32Array, numbers: Float32Array, start = 0): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += vector[at]! * numbers[start + at]!;
  return sum;
}

/** Returns the vector in pgvector's syntax. Each number has the fewest digits that identify it. */
export function writeVector(vector: Float32Array): string {
  return `[${Array.from(vector).join(",")}]`;
}

export function readVector(text: string): Float32Array {
  return Float32Array.from(JSON.parse(text) as number[]);
}
