import type { Writable } from "node:stream";
import type { WriteLine } from "./hub-requests.ts";

/**
 * Lines for a child, each awaited until the system took it, so that a child that does not read holds up whoever writes.
 */
export function lineWriter(stream: Writable): WriteLine {
  return (line) =>
    new Promise((resolve) => {
      if (stream.destroyed) return resolve();
      // A stream that ends under way calls back too, with an error that is of no interest: how the child ended says
      // more.
      stream.write(line, () => resolve());
    });
}
