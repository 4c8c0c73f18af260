import { LOG_LEVELS } from "./modern/envelope.ts";

const SEVERITY: ReadonlyMap<string, number> = new Map(LOG_LEVELS.map((level, severity) => [level, severity]));

export function isLogLevel(value: unknown): value is string {
  return typeof value === "string" && SEVERITY.has(value);
}

/**
 * Returns true if a listener with this threshold receives messages of `level`. Messages with unknown levels are always
 * received.
 */
export function reachesLevel(level: unknown, threshold: string): boolean {
  const severity = typeof level === "string" ? SEVERITY.get(level) : undefined;
  return severity === undefined || severity >= (SEVERITY.get(threshold) ?? 0);
}
