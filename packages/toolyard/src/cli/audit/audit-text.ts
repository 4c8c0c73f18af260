import { formatDuration } from "../../core/text/duration.ts";
import { colorsOf } from "../output/colors.ts";
import type { Io } from "../output/io.ts";
import { plainLine } from "../output/table.ts";
import type { AuditEntry } from "../../telemetry/audit/audit-filter.ts";

/**
 * Returns an entry as one line: time, caller, action, outcome, duration. Escapes the texts, because they come from
 * callers.
 */
export function entryText(entry: AuditEntry, io: Pick<Io, "color">): string {
  const { dim, green, red } = colorsOf(io);
  const {
    time,
    event = "call",
    kind,
    durationMs,
    action,
    target,
    principal,
    client,
    source,
    rule,
    decision,
    details,
  } = entry;
  const who = [principal, client].filter((name) => name !== undefined).join("/");
  const place = [target, source && `(${text(source)})`];
  const what = event === "call" ? place : [event, action, decision, ...(target === undefined ? [source] : place)];
  const outcome = text(rule === undefined ? kind : `${text(kind)} (${text(rule)})`);
  const rest = [
    typeof durationMs === "number" ? formatDuration(Math.max(1, Math.round(durationMs))) : "",
    details === undefined ? "" : JSON.stringify(details),
  ];
  const shown = [who, ...what].filter((part) => part !== undefined && part !== "").map(text);
  const paint = kind === "ok" ? green : red;
  return [dim(text(time)), ...shown, paint(outcome), ...rest.filter((part) => part !== "").map(text)].join("  ");
}

function text(value: unknown): string {
  return plainLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}
