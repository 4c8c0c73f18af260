/**
 * Returns true if objects and lists nest deeper than `maxDepth`. Does not recurse, so it can run before code that
 * recurses once per level.
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
