/**
 * Map, in insertion order, for values that live as long as a call. V8's `Map` creates a new table when it grows,
 * fragments or empties, and each table references the next one: once one table is in the old generation, all values
 * that any table ever held live until a full collection. This map searches its entries from the newest to the oldest,
 * which is fast for some hundreds of entries. The arrays keep their length, since V8 reallocates an array that shrinks.
 */
export class CallMap<K, V> {
  #keys: (K | undefined)[] = [];
  #values: (V | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
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
    if (at !== -1) {
      this.#values[at] = value;
      return;
    }
    this.#keys[this.#size] = key;
    this.#values[this.#size] = value;
    this.#size += 1;
  }

  /** Removes an entry. Returns true if it was present. */
  delete(key: K): boolean {
    const at = this.#find(key);
    if (at === -1) return false;
    closeGap(this.#keys, at, this.#size);
    closeGap(this.#values, at, this.#size);
    this.#size -= 1;
    if (this.#size === 0 && this.#keys.length > MAX_KEPT_ROOM) this.clear();
    return true;
  }

  clear(): void {
    this.#keys = [];
    this.#values = [];
    this.#size = 0;
  }

  /** Returns a copy of the values; later changes do not affect it. */
  values(): V[] {
    return this.#values.slice(0, this.#size) as V[];
  }

  entries(): [K, V][] {
    return this.values().map((value, at) => [this.#keys[at] as K, value]);
  }

  #find(key: K): number {
    const keys = this.#keys;
    for (let at = this.#size - 1; at >= 0; at -= 1) if (keys[at] === key) return at;
    return -1;
  }
}

/** Set with the same memory behaviour as `CallMap`. */
export class CallSet<T> {
  #items: (T | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(item: T): boolean {
    const items = this.#items;
    for (let at = this.#size - 1; at >= 0; at -= 1) if (items[at] === item) return true;
    return false;
  }

  /** Does not check for duplicates: an item that is added twice must be deleted twice. */
  add(item: T): void {
    this.#items[this.#size] = item;
    this.#size += 1;
  }

  /** Removes an item. Returns true if it was present. */
  delete(item: T): boolean {
    const items = this.#items;
    for (let at = this.#size - 1; at >= 0; at -= 1) {
      if (items[at] !== item) continue;
      closeGap(items, at, this.#size);
      this.#size -= 1;
      if (this.#size === 0 && items.length > MAX_KEPT_ROOM) this.clear();
      return true;
    }
    return false;
  }

  clear(): void {
    this.#items = [];
    this.#size = 0;
  }

  /** Returns a copy of the items. */
  values(): T[] {
    return this.#items.slice(0, this.#size) as T[];
  }
}

/** Maximum capacity that an emptied list keeps. Larger arrays, from many concurrent calls, are released. */
const MAX_KEPT_ROOM = 1024;

/** Removes one of the first `size` members without changing the length of the array. */
function closeGap(list: unknown[], at: number, size: number): void {
  for (let next = at + 1; next < size; next += 1) list[next - 1] = list[next];
  list[size - 1] = undefined;
}
