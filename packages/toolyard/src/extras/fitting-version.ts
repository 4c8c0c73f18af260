/**
 * Returns whether version `found` can replace the pinned version: not older, and equal up to the first number that is
 * not 0, as npm accepts for `^pinned`.
 */
export function isFittingVersion(found: string, pinned: string): boolean {
  const [own, wanted] = [numbersOf(found), numbersOf(pinned)];
  if (!own || !wanted) return found === pinned;
  const firstNonZero = wanted.findIndex((part) => part !== 0);
  const fixed = firstNonZero < 0 ? wanted.length : firstNonZero + 1;
  if (wanted.slice(0, fixed).some((part, at) => part !== own[at])) return false;
  const differing = wanted.findIndex((part, at) => part !== own[at]);
  return differing < 0 || own[differing]! > wanted[differing]!;
}

/**
 * Returns the numbers of a version. Undefined for a version with a suffix, such as a preview, which matches only
 * itself.
 */
function numbersOf(version: string): readonly number[] | undefined {
  return /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(version) ? version.split(".").map(Number) : undefined;
}
