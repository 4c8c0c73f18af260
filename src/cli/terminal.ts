import { closeSync, openSync } from "node:fs";

/**
 * Watches the terminal that this process was started on. The returned function tells whether it was closed since;
 * where there was none, it never was.
 */
export function watchTerminal(): () => boolean {
  const hadOne = hasTerminal();
  return () => hadOne && !hasTerminal();
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
