/**
 * Budget in bytes of executed bytecode after which V8 considers a function for optimisation (`--interrupt-budget`).
 * `USUAL_BUDGET` is V8's default. The budget of a start is large enough that most functions that only the start
 * executes are not optimised, and small enough that the start of a hub with many thousand tools is.
 */
const USUAL_BUDGET = 67_584;
const START_BUDGET = 400_000;
/** Maximum duration of a start. Later functions are optimised as usual, even if the hub was not called. */
const MAX_START_MS = 10_000;

/** The V8 of Node 22 and later has no such option, and writes an error to stderr. */
const HAS_BUDGET = process.versions.node.startsWith("20.");

let ending: NodeJS.Timeout | undefined;

/**
 * Makes V8 optimise fewer functions until `endStart`. At a start with 1,000 tools, the optimisation of functions that
 * run for each tool once takes more time than it saves, and its memory is not released. Changes the whole process, so
 * only the program calls it.
 */
export function beginStart(): void {
  if (!HAS_BUDGET) return;
  setBudget(START_BUDGET);
  ending = setTimeout(endStart, MAX_START_MS);
  ending.unref();
}

/** Ends the start, if `beginStart` was called. */
export function endStart(): void {
  if (!ending) return;
  clearTimeout(ending);
  ending = undefined;
  setBudget(USUAL_BUDGET);
}

function setBudget(bytes: number): void {
  process.getBuiltinModule("node:v8").setFlagsFromString(`--interrupt-budget=${bytes}`);
}
