/**
 * Returns advice for the user after a failed write: advice for this error code if there is one, otherwise `otherwise`.
 */
export function writeAdvice(code: string, otherwise: string): string {
  return code === "ENOSPC" || code === "EDQUOT" ? "Free space on its disk." : otherwise;
}
