import { baseName } from "../language/names.ts";
import type { Neighbours } from "./neighbours.ts";
import type { Factor } from "./program.ts";
import { ProgramError } from "./program-error.ts";

/** A tensor over states of factors. */
interface Dependent {
  readonly name: string;
  /** Sizes of the dimensions that represent factors. */
  readonly sizes: readonly number[];
  /** Factor whose transitions the tensor describes. It is always among the dependencies. */
  readonly own?: number;
}

type StateCount = Pick<Factor, "name" | "states">;

/** Returns the factors of the dimensions: all factors, those that edges name, or the only ones with fitting sizes. */
export function dependencies(
  { name, sizes, own }: Dependent,
  neighbours: Neighbours,
  factors: readonly StateCount[],
): readonly number[] {
  const order = (on: readonly number[]): readonly number[] | undefined =>
    ordersOf(on, own).find(
      (one) => one.length === sizes.length && one.every((factor, at) => factors[factor]!.states === sizes[at]),
    );
  const all = factors.map((_, index) => index);
  const stated = order(all) ?? order(joinedFactors(neighbours.of(name), { factors, own }));
  if (stated) return stated;
  const possible = subsets(factors.length, sizes.length).flatMap((on) => {
    const found = own === undefined || on.includes(own) ? order(on) : undefined;
    return found ? [found] : [];
  });
  if (possible.length === 1) return possible[0]!;
  const states = factors.map((factor) => `${factor.name}: ${factor.states}`).join(", ");
  throw new ProgramError(
    name,
    possible.length === 0
      ? `${name} depends on ${sizes.join("×")} states, but the factors have other numbers of states (${states}).`
      : `${name} can depend on different factors (${states}). State which with edges, such as s_f0-${name}.`,
  );
}

/** Returns the possible orders of factors: by number, or for transitions with the own factor first. */
function ordersOf(on: readonly number[], own: number | undefined): readonly (readonly number[])[] {
  return own === undefined ? [on] : [on, [own, ...on.filter((factor) => factor !== own)]];
}

/** Returns the factors whose states (`s_f0`, `s_1`, or `s_place` for `B_place`) an edge joins with the tensor. */
function joinedFactors(
  neighbours: Iterable<string>,
  { factors, own }: { readonly factors: readonly StateCount[]; readonly own: number | undefined },
): readonly number[] {
  const byName = new Map(factors.map((factor, index) => [`s${factor.name.slice(1)}`, index]));
  const found = new Set<number>(own === undefined ? [] : [own]);
  for (const other of neighbours) {
    const digits = /^s(?:_(?:level|agent)\d+)?_f?(\d{1,4})(?:_|$)/.exec(other)?.[1];
    const index = byName.get(baseName(other)) ?? (digits === undefined ? -1 : Number(digits));
    if (index >= 0 && index < factors.length) found.add(index);
  }
  return [...found].toSorted((one, other) => one - other);
}

/** Returns every ascending choice of `size` numbers below `count`. */
function subsets(count: number, size: number): readonly (readonly number[])[] {
  if (size === 0) return [[]];
  const found: (readonly number[])[] = [];
  for (let first = 0; first <= count - size; first += 1)
    for (const rest of subsets(count - first - 1, size - 1))
      found.push([first, ...rest.map((index) => index + first + 1)]);
  return found;
}
