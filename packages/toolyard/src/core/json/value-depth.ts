/**
 * Whether objects and lists nest deeper than `maxDepth`. Takes no stack itself, so it can be asked before anything that
 * recurses once a level.
 */
export function isValueDeeperThan(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const inner = level.filter((one) => typeof one === "object" && one !== null);
    if (inner.length > 0 && depth === maxDepth) return true;
    level = inner.flatMap((one) => Object.values(one as object));
  }
  return false;
}
