import { runApart } from "./run-apart.ts";

let waiting: (() => void)[] = [];

/**
 * Runs `work` when what has arrived in this turn of the event loop is worked on, in the order of asking. Messages that
 * leave together wake their reader once: one after the other, each of them would find it asleep again, and waking it
 * costs more than writing.
 */
export function atTurnEnd(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(runAll);
}

function runAll(): void {
  const all = waiting;
  waiting = [];
  for (const work of all) runApart(work);
}
