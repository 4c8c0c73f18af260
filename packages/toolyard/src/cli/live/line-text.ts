import { colorsOf } from "../output/colors.ts";
import { plainLine } from "../output/table.ts";
import { cutToWidth, displayWidth } from "../output/table-width.ts";

/** Current state of one activity. Its texts are untrusted. */
export interface LiveLine {
  /** Name of the activity, unique among the lines. */
  readonly name: string;
  /** State in one or two words: `starting`, `ready`. */
  readonly state: string;
  /** Reason for waiting, or for the failure. */
  readonly note?: string;
  /** Outcome. Any value except "busy" is final. @default "busy" */
  readonly outcome?: "busy" | "ok" | "failed";
  /** Start of this state, in milliseconds since the epoch. @default first time the line was seen in this state */
  readonly since?: number;
  readonly done?: number;
  /** Total; if it is known, a bar is drawn. */
  readonly total?: number;
}

/** Width of the terminal, and whether to use colour. */
export interface Canvas {
  readonly columns: number;
  readonly color: boolean;
  /** Number of redraws, which drives animations. */
  readonly frame: number;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const BAR_CELLS = 20;
/** Minimum width of a terminal with a progress bar. */
const BAR_FROM_COLUMNS = 60;
const LONGEST_NAME = 24;

/** Returns one terminal line, never wider than the terminal. */
export function paintLine(line: LiveLine, elapsedMs: number, { columns, color, frame }: Canvas): string {
  const { red, green, cyan, dim } = colorsOf({ color });
  const { outcome = "busy" } = line;
  const [sign, paint] = { busy: [FRAMES[frame % FRAMES.length]!, cyan], ok: ["✓", green], failed: ["✗", red] }[
    outcome
  ] as [string, (text: string) => string];
  const name = cutToWidth(plainLine(line.name), Math.min(LONGEST_NAME, Math.max(8, columns - 20)));
  const head = `${name}: ${plainLine(line.state)}${barOf(line, columns)}${elapsedText(elapsedMs)}`;
  const shown = cutToWidth(head, Math.max(1, columns - 3));
  const room = columns - 3 - displayWidth(shown) - 2;
  const note = line.note === undefined || room < 8 ? "" : `  ${dim(cutToWidth(plainLine(line.note), room))}`;
  return `${paint(sign)} ${shown}${note}`;
}

/** Returns name and result as plain text for a file. */
export function plainText(line: LiveLine, elapsedMs: number): string {
  const note = line.note === undefined ? "" : `: ${noteOf(line)}`;
  return `${plainLine(line.name)}: ${plainLine(line.state)}${amountText(line)}${elapsedText(elapsedMs)}${note}`;
}

/** Returns the first sentence of a failure, because failures are printed in full at the end. */
function noteOf({ note = "", outcome }: LiveLine): string {
  const text = plainLine(note);
  const end = outcome === "failed" ? text.search(/\.\s/) : -1;
  return end === -1 ? text : text.slice(0, end + 1);
}

function barOf({ done, total }: LiveLine, columns: number): string {
  if (done === undefined || total === undefined || !(total > 0))
    return amountText({ ...(done !== undefined && { done }) });
  const part = Math.min(1, Math.max(0, done / total));
  const percent = ` ${Math.floor(part * 100)} %`;
  if (columns < BAR_FROM_COLUMNS) return percent;
  const full = Math.round(part * BAR_CELLS);
  return ` ${"█".repeat(full)}${"░".repeat(BAR_CELLS - full)}${percent}`;
}

function amountText({ done, total }: Pick<LiveLine, "done" | "total">): string {
  if (done === undefined) return "";
  return total === undefined ? ` ${done}` : ` ${done} of ${total}`;
}

/** Returns whole seconds; empty below one second. */
function elapsedText(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  if (seconds < 1) return "";
  return seconds < 60 ? `, ${seconds} s` : `, ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
