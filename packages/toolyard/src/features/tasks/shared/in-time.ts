import { fail } from "../../../core/calls/outcome.ts";
import { FailError } from "../../../core/errors.ts";
import { within } from "../../../core/timing/wait.ts";

/** Milliseconds after which work without an answer fails, like a command of the store. */
const ANSWER_MS = 2000;

/** Rejects with a `FailError` if the work takes too long. Its connection would wait until a lost store is back. */
export async function inTime(work: Promise<unknown>): Promise<void> {
  const isDone = await within(
    work.then(() => true),
    ANSWER_MS,
  );
  if (isDone !== true)
    throw new FailError(fail("unavailable", "The shared store did not answer in time. Try again later."));
}
