import { formatDuration } from "../../core/text/duration.ts";
import { colorsOf } from "../output/colors.ts";
import type { Io } from "../output/io.ts";
import { plainLine, table } from "../output/table.ts";
import type { TopLine, TopReport } from "./top-report.ts";

/** Width below which a terminal shows only the most important columns. */
const NARROW_COLUMNS = 72;

const SECTIONS = [
  ["busiest", "Busiest tools"],
  ["slowest", "Slowest tools"],
  ["failing", "Failing tools"],
  ["sources", "Sources"],
] as const satisfies readonly (readonly [keyof TopReport, string])[];

/** Formats a report: a line of totals, then a table for each ranking that has rows. */
export function topText(report: TopReport, title: string, io: Pick<Io, "width" | "color">): string {
  const { bold } = colorsOf(io);
  const tables = SECTIONS.filter(([member]) => report[member].length > 0).map(
    ([member, heading]) => `\n${bold(heading)}\n${rowsText(report[member], io)}`,
  );
  return [plainLine(title), totalsText(report), ...(tables.length > 0 ? tables : ["\nNo calls yet."])].join("\n");
}

function totalsText({ calls, failed, spanMs }: TopReport): string {
  const perSecond = spanMs > 0 ? (calls * 1000) / spanMs : 0;
  return `${calls} calls in ${formatDuration(spanMs)} (${rateText(perSecond)}/s), ${failed} failed`;
}

function rateText(perSecond: number): string {
  return perSecond >= 100 ? String(Math.round(perSecond)) : perSecond.toPrecision(2);
}

function rowsText(lines: readonly TopLine[], io: Pick<Io, "width" | "color">): string {
  const isNarrow = io.width !== undefined && io.width < NARROW_COLUMNS;
  const columns = COLUMNS.filter(
    ({ isWide = false, title }) => !(isWide && isNarrow) && (title !== "tool" || lines[0]?.name !== undefined),
  );
  return table(
    columns.map(({ title }) => title),
    lines.map((line) => columns.map(({ text }) => text(line))),
    io,
  );
}

interface Column {
  readonly title: string;
  readonly text: (line: TopLine) => string;
  /** True if the column is omitted on a narrow terminal. @default false */
  readonly isWide?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "tool", text: ({ name = "" }) => name },
  { title: "source", text: ({ source }) => source },
  { title: "calls", text: ({ calls }) => String(calls) },
  { title: "per s", text: ({ perSecond }) => rateText(perSecond), isWide: true },
  { title: "p50", text: ({ p50Ms }) => timeText(p50Ms), isWide: true },
  { title: "p95", text: ({ p95Ms }) => timeText(p95Ms) },
  { title: "tokens", text: ({ resultTokens }) => String(resultTokens), isWide: true },
  { title: "failed", text: ({ failed, failure }) => (failure === undefined ? "" : `${failed} ${failure}`) },
];

function timeText(milliseconds: number): string {
  return milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : formatDuration(milliseconds);
}
