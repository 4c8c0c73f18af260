let waiting: (() => void)[] = [];

/**
 * Runs `work` after all messages of this turn of the event loop were handled, in the order of registration. Messages
 * that are sent together wake their reader once. Messages that are sent separately would wake it each time, and waking
 * costs more than writing.
 */
export function atTurnEnd(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(runAll);
}

/** Number of messages that are sent at the end of this turn. */
let leaving = 0;

/**
 * Sends a message at the end of this turn of the event loop, in order and together with others. If `isAlone`, no other
 * message is expected, and it is sent immediately unless messages are waiting.
 */
export function sendAtTurnEnd(send: () => void, isAlone = false): void {
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

/**
 * Runs `work`. If it throws, other work continues, and the exception is thrown again by `process.nextTick`, as for a
 * listener of an EventTarget.
 */
export function runApart(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
