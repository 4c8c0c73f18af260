import { runApart } from "./run-apart.ts";

let waiting: (() => void)[] = [];

/**
 * Runs `work` after the messages of this turn of the event loop were handled, in order of registration. Messages sent
 * together wake their reader once; sent one after the other, each would wake it again, which costs more than writing.
 */
export function atTurnEnd(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(runAll);
}

/** Number of messages sent at the end of this turn. */
let leaving = 0;

/**
 * Sends a message at the end of the turn, together with others and in order. `isAlone`: no other message is expected,
 * so it is sent immediately if none is waiting.
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
