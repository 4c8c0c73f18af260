import { formatDuration } from "../../core/text/duration.ts";
import type { CallSeen } from "../../pipeline/ports.ts";
import { colorsOf } from "../output/colors.ts";
import type { Io } from "../output/io.ts";
import { plainLine } from "../output/table.ts";
import { cutToWidth, displayWidth } from "../output/table-width.ts";
import { sizeOf } from "../output/terminal.ts";

const LONGEST_CALLER = 20;
const LEAST_NAMES = 16;
const GAP = "  ";

/** The properties of a call that its line shows. */
export type ShownCall = Pick<CallSeen, "who" | "target" | "durationMs" | "kind">;

/** Prints one line for each call at its end: time, caller, tool, duration and outcome. */
export function callLines(io: Pick<Io, "stderr" | "color">): (seen: ShownCall) => void {
  return (seen) => {
    const { columns } = sizeOf(io.stderr);
    io.stderr.write(`${callLine(seen, new Date(), { columns, color: io.color })}\n`);
  };
}

function callLine(
  { who, target, durationMs, kind }: ShownCall,
  at: Date,
  { columns, color }: { readonly columns: number; readonly color: boolean },
): string {
  const { dim, green, red } = colorsOf({ color });
  const time = at.toTimeString().slice(0, 8);
  const took = formatDuration(Math.max(1, Math.round(durationMs)));
  const room = columns - 1 - took.length - kind.length - 3 * GAP.length;
  // The time of day is omitted on a terminal without enough room.
  const hasTime = room - time.length - GAP.length >= LEAST_NAMES;
  const names = hasTime ? room - time.length - GAP.length : room;
  const caller = cutToWidth(plainLine(who), Math.max(4, Math.min(LONGEST_CALLER, Math.floor(names / 3))));
  const tool = cutToWidth(plainLine(target), Math.max(8, names - displayWidth(caller)));
  const outcome = kind === "ok" ? green(kind) : red(kind);
  return [...(hasTime ? [dim(time)] : []), caller, tool, dim(took), outcome].join(GAP);
}
