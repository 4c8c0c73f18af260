/** Runs inside the sandbox. Returns `structuredClone`. */
export function guestClone(): (value: unknown) => unknown {
  const { isView } = ArrayBuffer;

  /** Copies a value that contains no other values; undefined for any other. */
  function copyOfLeaf(given: object): object | undefined {
    if (given instanceof Date) return new Date(given);
    if (given instanceof RegExp) return new RegExp(given.source, given.flags);
    if (given instanceof ArrayBuffer) return given.slice(0);
    if (isView(given)) return (given as Uint8Array).slice();
    if (given instanceof Error)
      return Object.assign(new Error(given.message), { name: given.name, stack: given.stack });
    return undefined;
  }

  return (value) => {
    const copies = new Map<unknown, unknown>();
    const keep = <T>(given: object, made: T): T => (copies.set(given, made), made);
    const copy = (given: unknown): unknown => {
      if (typeof given === "function" || typeof given === "symbol")
        throw new TypeError(`A ${typeof given} cannot be cloned.`);
      if (typeof given !== "object" || given === null) return given;
      if (copies.has(given)) return copies.get(given);
      const leaf = copyOfLeaf(given);
      return leaf === undefined ? copyOfHolder(given) : keep(given, leaf);
    };
    const copyOfHolder = (given: object): unknown => {
      if (given instanceof Map) {
        const made = keep(given, new Map<unknown, unknown>());
        for (const [key, member] of given) made.set(copy(key), copy(member));
        return made;
      }
      if (given instanceof Set) {
        const made = keep(given, new Set<unknown>());
        for (const member of given) made.add(copy(member));
        return made;
      }
      const made = keep(given, (Array.isArray(given) ? [] : {}) as Record<string, unknown>);
      for (const [key, member] of Object.entries(given))
        Object.defineProperty(made, key, { value: copy(member), writable: true, enumerable: true, configurable: true });
      return made;
    };
    return copy(value);
  };
}
