/** Returns the advice for a failed write, unless the error code has a better one. */
export function writeAdvice(code: string, otherwise: string): string {
  return code === "ENOSPC" || code === "EDQUOT" ? "Make room on its disk." : otherwise;
}
