/**
 * Budget in bytes of executed bytecode after which V8 considers a function for optimisation (`--interrupt-budget`).
 * This is V8's default.
 */
const USUAL_BUDGET = 67_584;
/**
 * Budget during a start. It is so large that most functions that run only at the start are not optimised, and so small
 * that they are optimised in a hub with many thousand tools.
 */
const START_BUDGET = 400_000;
/** Maximum duration of a start. Later functions are optimised as usual, even if the hub was not called. */
const MAX_START_MS = 10_000;

/** True if V8 has the option. The V8 of Node 22 and later does not, and would write an error to stderr. */
const HAS_BUDGET = process.versions.node.startsWith("20.");

let ending: NodeJS.Timeout | undefined;

/**
 * Makes V8 on Node 20 optimise fewer functions until `endStart`. At a start with 1,000 tools, the optimisation of
 * functions that run once for each tool takes more time than it saves, and its memory is not released (decision 0040).
 * Changes the whole process, so only the program calls it, and the library does not.
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
