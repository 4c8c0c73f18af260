import { closeSync, openSync } from "node:fs";

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

/** How large a terminal is. One without a window, as programs make it for others, says 0. */
export function sizeOf(terminal: object): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = terminal as Partial<NodeJS.WriteStream>;
  return { columns: columns || USUAL_COLUMNS, rows: rows || USUAL_ROWS };
}

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
