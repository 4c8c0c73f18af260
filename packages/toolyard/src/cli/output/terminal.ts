import { closeSync, openSync } from "node:fs";

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

/** Returns the size of a terminal. One without a window, as programs create them, reports 0. */
export function sizeOf(terminal: object): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = terminal as Partial<NodeJS.WriteStream>;
  return { columns: columns || USUAL_COLUMNS, rows: rows || USUAL_ROWS };
}

/**
 * Watches the terminal on which this process was started. Returns a function that returns whether it was closed since;
 * without a terminal it never was.
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
