/**
 * Steps that the current check of a value may still use. The check sets them at its start, and patterns and formats
 * subtract from them. A check is synchronous, so one object is enough.
 */
export const stepsLeft = { patterns: Infinity, formats: Infinity };
