import type { Writable } from "node:stream";
import type { WriteLine } from "./hub-requests.ts";

/**
 * Returns a writer of lines for a child; each write waits until the system accepted it, so that the writer slows to the
 * child's reading.
 */
export function lineWriter(stream: Writable): WriteLine {
  return (line) =>
    new Promise((resolve) => {
      if (stream.destroyed) return resolve();
      // A stream that ends meanwhile calls back with an error too, which is ignored: the child's exit is the better
      // reason.
      stream.write(line, () => resolve());
    });
}
