// Every rule on how a server's requests find their user holds for every path to the hub and every order of calls. The
// full product is hundreds of hubs. Therefore a seed draws a few cells for each rule: one in each protocol era, and
// over all rules each cell about equally often.
import { test } from "vitest";
import { createRandom, type Random } from "../support/random.ts";
import { titleOf, type Way } from "./asking-yard.ts";

/** Chooses other cells; a title names the cell, so that `-t` runs it again. */
const SEED = Number(process.env["ASKS_SEED"] ?? 20_261_126);
/** `ASKS_CELLS=all` runs the full product. */
const RUNS_ALL = process.env["ASKS_CELLS"] === "all";

/** One combination that a rule is tried on. */
export interface Cell<Variant extends string = string> {
  readonly way: Way;
  readonly variant: Variant;
}

export function cellsOf<Variant extends string>(
  ways: readonly Way[],
  variants: readonly Variant[],
): readonly Cell<Variant>[] {
  return ways.flatMap((way) => variants.map((variant) => ({ way, variant })));
}

/** Draws cells for one rule after the other. Several rules share a deck, so that it goes round. */
export class Deck<Variant extends string = string> {
  readonly #eras: readonly Cell<Variant>[][];
  readonly #drawn = new Map<Cell<Variant>, number>();
  readonly #random: Random;

  constructor(cells: readonly Cell<Variant>[], seed = SEED) {
    const eras = new Set(cells.map(({ way }) => way.era));
    this.#eras = Array.from(eras, (era) => cells.filter(({ way }) => way.era === era));
    this.#random = createRandom(seed);
  }

  /** Draws one cell of each era, among those drawn least often. With `all`, every cell. */
  draw(all = RUNS_ALL): readonly Cell<Variant>[] {
    return all ? this.#eras.flat() : this.#eras.map((cells) => this.#drawOne(cells));
  }

  #drawOne(cells: readonly Cell<Variant>[]): Cell<Variant> {
    const least = Math.min(...cells.map((cell) => this.#timesOf(cell)));
    const cell = this.#random.pick(cells.filter((one) => this.#timesOf(one) === least));
    this.#drawn.set(cell, this.#timesOf(cell) + 1);
    return cell;
  }

  #timesOf(cell: Cell<Variant>): number {
    return this.#drawn.get(cell) ?? 0;
  }
}

/** A test of the rule for each cell drawn for it. */
export function rule<Variant extends string>(
  title: string,
  deck: Deck<Variant>,
  body: (cell: Cell<Variant>) => Promise<void>,
): void {
  for (const cell of deck.draw()) {
    const variant = cell.variant === "" ? "" : `, ${cell.variant}`;
    test(`${title} (${titleOf(cell.way)}${variant})`, () => body(cell));
  }
}
