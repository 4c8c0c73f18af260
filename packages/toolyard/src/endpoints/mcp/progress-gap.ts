import { setTimeout as delay } from "node:timers/promises";

/**
 * Waits until a reply may follow the progress that was sent at `sentAt`. The reference clients lose a progress
 * notification that they read in one piece with its reply: they handle it a moment later, when the call is forgotten
 * already (of 200 calls on a pipe, 196 lost their last progress without this pause and none with it). Where every call
 * has a stream of its own there is no need for it.
 */
export async function progressGap(sentAt: number | undefined): Promise<void> {
  if (sentAt === undefined) return;
  const until = sentAt + GAP_MS;
  // Timers may fire a millisecond early.
  for (let waitMs = until - performance.now(); waitMs > 0; waitMs = until - performance.now())
    await delay(Math.ceil(waitMs));
}

const GAP_MS = 5;
