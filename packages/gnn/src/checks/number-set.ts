/** Random factor of the hash function, so that no text can be written whose numbers all collide. */
const SALT = 2 * Math.floor(Math.random() * 2 ** 31) + 1;

/** A set of numbers ≥ 0 with a fixed capacity. A hundred thousand numbers need a quarter of the memory of a `Set`. */
export class NumberSet {
  readonly #slots: Float64Array;
  readonly #shift: number;

  constructor(count: number) {
    const bits = Math.ceil(Math.log2(count + 1)) + 1;
    this.#slots = new Float64Array(2 ** bits).fill(-1);
    this.#shift = 32 - bits;
  }

  /** Returns true if the number was not in the set. */
  add(number: number): boolean {
    const last = this.#slots.length - 1;
    let slot = Math.imul(number ^ (number / 2 ** 32), SALT) >>> this.#shift;
    for (; this.#slots[slot] !== -1; slot = slot === last ? 0 : slot + 1)
      if (this.#slots[slot] === number) return false;
    this.#slots[slot] = number;
    return true;
  }
}
