import { formatDuration } from "../../core/duration.ts";
import type { CallSeen } from "../../pipeline/ports.ts";
import { colorsOf } from "../colors.ts";
import type { Io } from "../io.ts";
import { cutToWidth, displayWidth, plainLine } from "../table.ts";

const DEFAULT_COLUMNS = 80;
const LONGEST_CALLER = 20;

/** One line for each call as it ends: when, who, what, how long and what came of it. */
export function callLines(io: Pick<Io, "stderr" | "color">): (seen: CallSeen) => void {
  return (seen) => {
    const { columns = DEFAULT_COLUMNS } = io.stderr as { readonly columns?: number };
    io.stderr.write(`${callLine(seen, new Date(), { columns, color: io.color })}\n`);
  };
}

function callLine(
  { who, target, durationMs, kind }: CallSeen,
  at: Date,
  { columns, color }: { readonly columns: number; readonly color: boolean },
): string {
  const { dim, green, red } = colorsOf({ color });
  const time = at.toTimeString().slice(0, 8);
  const took = formatDuration(Math.max(1, Math.round(durationMs)));
  const caller = cutToWidth(plainLine(who), LONGEST_CALLER);
  const taken = time.length + displayWidth(caller) + took.length + kind.length + 8;
  const tool = cutToWidth(plainLine(target), Math.max(8, columns - 1 - taken));
  return [dim(time), caller, tool, dim(took), kind === "ok" ? green(kind) : red(kind)].join("  ");
}
