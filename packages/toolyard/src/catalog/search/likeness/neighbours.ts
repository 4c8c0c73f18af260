import type { ToolRecord } from "../../../core/sources/records.ts";
import type { PreparedTool } from "../../source-part.ts";
import type { VectorRows } from "./vector-rows.ts";

/** Number of nearest tools of other servers that contribute to the score of a tool. */
export const NEIGHBOURS = 5;
/** Minimum similarity of two tools for a contribution. */
const LEAST_COSINE = 0.5;
/** Share of its maximum that the similarity of the elements outside the first comparison is expected to reach. */
const HOPE = 0.5;
export const NOBODY = -1;

/** For each rank: the most similar tools of other servers. Filled with `NOBODY` if there are fewer. */
export class Neighbours {
  readonly ranks: Int32Array;
  readonly #cosines: Float32Array;
  readonly #tools: readonly PreparedTool[];

  private constructor(tools: readonly PreparedTool[]) {
    this.#tools = tools;
    this.ranks = new Int32Array(tools.length * NEIGHBOURS).fill(NOBODY);
    this.#cosines = new Float32Array(tools.length * NEIGHBOURS).fill(LEAST_COSINE);
  }

  /**
   * Finds neighbours in steps of one tool each, so that other work is not delayed. Reuses the results in `before` for
   * tools that still exist and have the same neighbours.
   */
  static *find(tools: readonly PreparedTool[], vectors: VectorRows, before?: Neighbours): Generator<void, Neighbours> {
    const found = new Neighbours(tools);
    const fresh = found.#take(before);
    const rests = Float32Array.from(tools, (_, rank) => vectors.restOf(rank));
    const own = sourceNumbers(tools);
    for (let rank = 0; rank < tools.length; rank += 1) {
      if (fresh[rank] === 0) continue;
      for (let other = 0; other < tools.length; other += 1) {
        if (own[other] === own[rank] || (fresh[other] === 1 && other < rank)) continue;
        const worst = Math.min(found.#worst(rank), found.#worst(other));
        if (vectors.firstOf(rank, other) + HOPE * rests[rank]! * rests[other]! < worst) continue;
        const cosine = vectors.cosineOf(rank, other);
        found.#offer(rank, other, cosine);
        found.#offer(other, rank, cosine);
      }
      yield;
    }
    return found;
  }

  /**
   * Copies the results in `before` that are still valid. Returns an array with 1 for each tool that must be compared
   * again.
   */
  #take(before: Neighbours | undefined): Uint8Array {
    const fresh = new Uint8Array(this.#tools.length).fill(1);
    if (!before) return fresh;
    const ranks = new Map<ToolRecord, number>(this.#tools.map(({ record }, rank) => [record, rank]));
    for (const [old, { record }] of before.#tools.entries()) {
      const rank = ranks.get(record);
      if (rank === undefined) continue;
      const kin = Array.from(before.ranks.subarray(old * NEIGHBOURS, (old + 1) * NEIGHBOURS), (one) =>
        one === NOBODY ? NOBODY : ranks.get(before.#tools[one]!.record),
      );
      if (kin.includes(undefined)) continue;
      this.ranks.set(kin as number[], rank * NEIGHBOURS);
      this.#cosines.set(before.#cosines.subarray(old * NEIGHBOURS, (old + 1) * NEIGHBOURS), rank * NEIGHBOURS);
      fresh[rank] = 0;
    }
    return fresh;
  }

  #worst(rank: number): number {
    return this.#cosines[(rank + 1) * NEIGHBOURS - 1]!;
  }

  #offer(rank: number, other: number, cosine: number): void {
    let at = (rank + 1) * NEIGHBOURS - 1;
    if (cosine <= this.#cosines[at]!) return;
    const begin = rank * NEIGHBOURS;
    for (; at > begin && cosine > this.#cosines[at - 1]!; at -= 1) {
      this.#cosines[at] = this.#cosines[at - 1]!;
      this.ranks[at] = this.ranks[at - 1]!;
    }
    this.#cosines[at] = cosine;
    this.ranks[at] = other;
  }
}

/** Returns the number of each tool's source, indexed by the rank of the tool. */
function sourceNumbers(tools: readonly PreparedTool[]): Uint32Array {
  const numbers = new Map<string, number>();
  return Uint32Array.from(tools, ({ record }) => {
    const { id } = record.source;
    const number = numbers.get(id) ?? numbers.size;
    numbers.set(id, number);
    return number;
  });
}
