/** Maximum length of the path of a file. */
const MAX_PATH_CHARS = 255;

/**
 * Returns a relative path with `/` between segments and without `..`; `undefined` if the value cannot be converted to
 * one.
 */
export function toFilePath(path: unknown): string | undefined {
  if (typeof path !== "string" || path.length > MAX_PATH_CHARS || /[\0\\]/u.test(path)) return undefined;
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  return steps.length === 0 || steps.includes("..") ? undefined : steps.join("/");
}
