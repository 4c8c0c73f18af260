import { LOG_LEVELS } from "./modern/envelope.ts";

const SEVERITY: ReadonlyMap<string, number> = new Map(LOG_LEVELS.map((level, severity) => [level, severity]));

export function isLogLevel(value: unknown): value is string {
  return typeof value === "string" && SEVERITY.has(value);
}

/**
 * Whether a message of `level` is wanted by somebody who listens from `threshold` on. A level nobody knows is always
 * wanted.
 */
export function reachesLevel(level: unknown, threshold: string): boolean {
  const severity = typeof level === "string" ? SEVERITY.get(level) : undefined;
  return severity === undefined || severity >= (SEVERITY.get(threshold) ?? 0);
}
