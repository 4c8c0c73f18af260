import { colorsOf } from "../output/colors.ts";
import { plainLine } from "../output/table.ts";
import { cutToWidth, displayWidth } from "../output/table-width.ts";

/** One thing that is under way, as it is now. Its texts may be anybody's. */
export interface LiveLine {
  /** What it is, and what tells it from the others. */
  readonly name: string;
  /** A word or two: `starting`, `ready`. */
  readonly state: string;
  /** What it waits for, or why it failed. */
  readonly note?: string;
  /** Nothing more will come of it. @default "busy" */
  readonly outcome?: "busy" | "ok" | "failed";
  /** Since when it is in this state, as `Date.now()` has it. @default when it was first seen in it */
  readonly since?: number;
  readonly done?: number;
  /** Where it is known, a bar is drawn. */
  readonly total?: number;
}

/** How lines are drawn: the columns that they may take, and whether in colour. */
export interface Canvas {
  readonly columns: number;
  readonly color: boolean;
  /** Counts redraws; what turns, turns by it. */
  readonly frame: number;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const BAR_CELLS = 20;
/** Below this many columns there is no room for a bar. */
const BAR_FROM_COLUMNS = 60;
const LONGEST_NAME = 24;

/** One line of the terminal, never wider than it. */
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

/** The same for whoever reads a file: what it is, and what became of it. */
export function plainText(line: LiveLine, elapsedMs: number): string {
  const note = line.note === undefined ? "" : `: ${noteOf(line)}`;
  return `${plainLine(line.name)}: ${plainLine(line.state)}${amountText(line)}${elapsedText(elapsedMs)}${note}`;
}

/** Why something failed is told in full at the end; here a sentence of it. */
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

/** Whole seconds are what a person reads; below one nothing is said. */
function elapsedText(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  if (seconds < 1) return "";
  return seconds < 60 ? `, ${seconds} s` : `, ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
