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

/** What leaves at the end of this turn. */
let leaving = 0;

/**
 * Has a message leave at the end of the turn, with others and in their order. `isAlone`: none that could leave with it
 * is awaited, so where none waits either it leaves at once.
 */
export function leaveAtTurnEnd(send: () => void, isAlone = false): void {
  if (isAlone && leaving === 0) return send();
  leaving += 1;
  atTurnEnd(() => {
    leaving -= 1;
    send();
  });
}

function runAll(): void {
  const all = waiting;
  waiting = [];
  for (const work of all) runApart(work);
}
