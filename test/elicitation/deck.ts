// Every rule about finding the user for a server request must hold for every path to the hub and every order of calls.
// The full product needs hundreds of hubs, so a seed draws a few cells for each rule: one in each protocol era, and
// each cell about equally often over all rules.
import { test } from "vitest";
import { createRandom, type Random } from "../support/random.ts";
import { titleOf, type Way } from "./asking-yard.ts";

/** Change the seed to draw other cells. A title names its cell, so that `-t` repeats it. */
const SEED = Number(process.env["ASKS_SEED"] ?? 20_261_126);
/** `ASKS_CELLS=all` runs the full product. */
const RUNS_ALL = process.env["ASKS_CELLS"] === "all";

/** One combination of path and variant with which a rule is tested. */
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

/** Draws cells for one rule after the other. Several rules share a deck, so that together they use all cells. */
export class Deck<Variant extends string = string> {
  readonly #eras: readonly Cell<Variant>[][];
  readonly #drawn = new Map<Cell<Variant>, number>();
  readonly #random: Random;

  constructor(cells: readonly Cell<Variant>[], seed = SEED) {
    const eras = new Set(cells.map(({ way }) => way.era));
    this.#eras = Array.from(eras, (era) => cells.filter(({ way }) => way.era === era));
    this.#random = createRandom(seed);
  }

  /** Draws one cell of each era, from those drawn least often. With `all`, returns every cell. */
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

/** Defines a test of the rule for each cell drawn for it. */
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
