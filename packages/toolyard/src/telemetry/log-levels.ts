import type { LogLevel } from "../core/ports/ports.ts";

/** Log levels from the least to the most important. */
export const LEVEL_ORDER: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warning: 2, error: 3 };
