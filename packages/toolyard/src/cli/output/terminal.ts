import { closeSync, openSync } from "node:fs";

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

/** Returns the size of a terminal. A terminal without a window, as programs create it, reports 0. */
export function sizeOf(terminal: object): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = terminal as Partial<NodeJS.WriteStream>;
  return { columns: columns || USUAL_COLUMNS, rows: rows || USUAL_ROWS };
}

/**
 * Watches the terminal in which this process was started. Returns a function that returns whether the terminal was
 * closed since then; always false without a terminal.
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
