/** Longest path of a file of a run. */
const MAX_PATH_CHARS = 255;

/**
 * A path as files of a run have it: relative, `/` between steps, nothing that climbs. `undefined` for what cannot be
 * made one.
 */
export function toFilePath(path: unknown): string | undefined {
  if (typeof path !== "string" || path.length > MAX_PATH_CHARS || /[\0\\]/u.test(path)) return undefined;
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  return steps.length === 0 || steps.includes("..") ? undefined : steps.join("/");
}
