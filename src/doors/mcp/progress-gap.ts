import { setTimeout as delay } from "node:timers/promises";

/**
 * Waits until a reply may follow the progress that was sent at `sentAt`. The reference clients lose a progress notification that they
 * read in one piece with its reply: they handle it a moment later, when the call is forgotten already (of 200 calls on a pipe, 196
 * lost their last progress without this pause and none with it). Where every call has a stream of its own there is no need for it.
 */
export async function progressGap(sentAt: number | undefined): Promise<void> {
  const waitMs = sentAt === undefined ? 0 : sentAt + GAP_MS - performance.now();
  if (waitMs > 0) await delay(waitMs);
}

const GAP_MS = 5;
