/** What to do about a file that the system did not write, unless its code says better. */
export function writeAdvice(code: string, otherwise: string): string {
  return code === "ENOSPC" || code === "EDQUOT" ? "Make room on its disk." : otherwise;
}
