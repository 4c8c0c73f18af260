import { randomBytes } from "node:crypto";

// Random per process, so that ids of two hubs that log to one place stay apart.
const processTag = randomBytes(4).toString("hex");
let last = 0;

/** An id for the next call; unique within this process and short enough to read out to somebody. */
export function nextCallId(): string {
  last += 1;
  return `${processTag}-${last.toString(36)}`;
}
