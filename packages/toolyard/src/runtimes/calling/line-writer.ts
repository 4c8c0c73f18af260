import type { Writable } from "node:stream";
import type { WriteLine } from "./hub-requests.ts";

/**
 * Returns a writer of lines for a child. Each write waits until the system has accepted it, so that the writer is as
 * slow as the child reads.
 */
export function lineWriter(stream: Writable): WriteLine {
  return (line) =>
    new Promise((resolve) => {
      if (stream.destroyed) return resolve();
      // If the stream ends during the write, its error is ignored, because the child's exit explains the failure
      // better.
      stream.write(line, () => resolve());
    });
}
