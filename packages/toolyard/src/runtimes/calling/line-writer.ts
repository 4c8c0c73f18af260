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
      // If the stream ends meanwhile, the callback receives an error, which is ignored: the child's exit is the better
      // reason.
      stream.write(line, () => resolve());
    });
}
