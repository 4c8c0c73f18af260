// Compares versions of toolchains.

/** Returns whether `1.26.8` is `1.25.5` or newer. */
export function isAtLeast(found, wanted) {
  const [own, asked] = [found, wanted].map((version) => version.split(".").map(Number));
  for (const [at, least] of asked.entries()) {
    if ((own[at] ?? 0) !== least) return (own[at] ?? 0) > least;
  }
  return true;
}

/**
 * Returns why a toolchain's version output is not sufficient; undefined if it is. `said`: the output, or undefined
 * without the toolchain.
 */
export function lackOf({ command, wanted }, said) {
  if (said === undefined) return `${command} >= ${wanted} wanted, none found`;
  const found = /\d+(?:\.\d+)+/u.exec(said)?.[0];
  if (found === undefined) return `${command} >= ${wanted} wanted, an unknown version found`;
  return isAtLeast(found, wanted) ? undefined : `${command} >= ${wanted} wanted, ${found} found`;
}
