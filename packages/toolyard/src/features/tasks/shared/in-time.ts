import { fail } from "../../../core/calls/outcome.ts";
import { FailError } from "../../../core/errors.ts";
import { within } from "../../../core/timing/wait.ts";

/** Maximum milliseconds for work, the same as for a command of the store. */
const ANSWER_MS = 2000;

/**
 * Waits for `work`. Rejects with a `FailError` if it takes too long, because its connection would wait until a lost
 * store is back.
 */
export async function inTime(work: Promise<unknown>): Promise<void> {
  const isDone = await within(
    work.then(() => true),
    ANSWER_MS,
  );
  if (isDone !== true)
    throw new FailError(fail("unavailable", "The shared store did not answer in time. Try again later."));
}
