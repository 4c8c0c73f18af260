import type { Point } from "./pdf-matrix.ts";

/** Size of a cell of the page, in points. */
const CELL = 4;
/** Maximum number of values per cell. More than this many letters of a readable size do not fit in one. */
const MAX_IN_CELL = 64;
/** Number by which a column of cells is multiplied. It is more than the number of rows of a page. */
const ROW = 100_000;

/** Values by their place on a page. Finds those near a point, without comparing all of them. */
export class NearbyPlaces<T> {
  readonly #distance: number;
  readonly #cells = new Map<number, T[]>();

  /** @param distance Maximum distance, in points, of a value that `some` finds. */
  constructor(distance: number) {
    this.#distance = distance;
  }

  /** Adds a value, unless its cell is full. */
  add({ x, y }: Point, value: T): void {
    const cell = cellOf(x) * ROW + cellOf(y);
    const values = this.#cells.get(cell);
    if (values === undefined) this.#cells.set(cell, [value]);
    else if (values.length < MAX_IN_CELL) values.push(value);
  }

  /** Returns whether a value in the cells around a point passes the test. Some of these values are farther away. */
  some({ x, y }: Point, test: (value: T) => boolean): boolean {
    for (let column = cellOf(x - this.#distance); column <= cellOf(x + this.#distance); column += 1)
      for (let row = cellOf(y - this.#distance); row <= cellOf(y + this.#distance); row += 1)
        if (this.#cells.get(column * ROW + row)?.some(test)) return true;
    return false;
  }
}

function cellOf(at: number): number {
  return Math.floor(at / CELL);
}
