/**
 * A map of what lives as long as a call, in the order of entry. V8's own `Map` makes a new table whenever it grows, is
 * full of gaps or empties, and each table holds on to the one after it: once one of them is old, all that was ever in
 * any of them lives until a full collection. Here an entry is looked for from the latest to the first, which suits some
 * hundreds of them.
 */
export class CallMap<K, V> {
  #keys: K[] = [];
  #values: V[] = [];

  get size(): number {
    return this.#keys.length;
  }

  has(key: K): boolean {
    return this.#find(key) !== -1;
  }

  get(key: K): V | undefined {
    const at = this.#find(key);
    return at === -1 ? undefined : this.#values[at];
  }

  set(key: K, value: V): void {
    const at = this.#find(key);
    if (at === -1) {
      this.#keys.push(key);
      this.#values.push(value);
    } else this.#values[at] = value;
  }

  /** Tells whether it was there. */
  delete(key: K): boolean {
    const at = this.#find(key);
    if (at === -1) return false;
    this.#keys.splice(at, 1);
    this.#values.splice(at, 1);
    return true;
  }

  clear(): void {
    this.#keys = [];
    this.#values = [];
  }

  /** As they are now; what comes and goes afterwards changes nothing in it. */
  values(): V[] {
    return this.#values.slice();
  }

  entries(): [K, V][] {
    return this.#keys.map((key, at) => [key, this.#values[at]!]);
  }

  #find(key: K): number {
    const keys = this.#keys;
    for (let at = keys.length - 1; at >= 0; at -= 1) if (keys[at] === key) return at;
    return -1;
  }
}

/** A set of the same kind. */
export class CallSet<T> {
  #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Does not look whether the item is there already: one that is added twice has to be deleted twice. */
  add(item: T): void {
    this.#items.push(item);
  }

  /** Tells whether it was there. */
  delete(item: T): boolean {
    const items = this.#items;
    for (let at = items.length - 1; at >= 0; at -= 1) {
      if (items[at] !== item) continue;
      items.splice(at, 1);
      return true;
    }
    return false;
  }

  clear(): void {
    this.#items = [];
  }

  /** As they are now. */
  values(): T[] {
    return this.#items.slice();
  }
}
