/** Probabilities of the states of each factor. */
export type Beliefs = readonly Float64Array[];

export function softmax(values: Float64Array): Float64Array {
  const highest = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const powers = values.map((value) => Math.exp(value - highest));
  const sum = powers.reduce((total, value) => total + value, 0);
  return powers.map((value) => value / sum);
}

export function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += one[at]! * other[at]!;
  return sum;
}

/** Returns the index of the highest value; the first index if several values are equal. */
export function highest(values: Float64Array): number {
  let best = 0;
  for (let at = 1; at < values.length; at += 1) if (values[at]! > values[best]!) best = at;
  return best;
}

/**
 * Sums a tensor over every dimension except `keep`, weighted with the dimension's vector. If `keep` is -1, sums over
 * all dimensions.
 */
export function contract(data: Float64Array, vectors: Beliefs, keep: number): Float64Array {
  const result = new Float64Array(keep < 0 ? 1 : vectors[keep]!.length);
  const index = vectors.map(() => 0);
  for (const entry of data) {
    let weight = entry;
    for (let at = 0; at < vectors.length; at += 1) if (at !== keep) weight *= vectors[at]![index[at]!]!;
    result[keep < 0 ? 0 : index[keep]!]! += weight;
    for (let at = vectors.length - 1; at >= 0; at -= 1) {
      index[at]! += 1;
      if (index[at]! < vectors[at]!.length) break;
      index[at] = 0;
    }
  }
  return result;
}

/** Returns the joint probabilities of independent beliefs. The last factor varies fastest. */
export function outer(beliefs: Beliefs): Float64Array {
  let joint: Float64Array = Float64Array.of(1);
  for (const belief of beliefs) {
    const next = new Float64Array(joint.length * belief.length);
    for (let row = 0; row < joint.length; row += 1)
      for (let at = 0; at < belief.length; at += 1) next[row * belief.length + at] = joint[row]! * belief[at]!;
    joint = next;
  }
  return joint;
}
