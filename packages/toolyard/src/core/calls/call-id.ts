import { PROCESS_TAG } from "../process-tag.ts";

let last = 0;

/** Returns an id for the next call, unique among all hubs and short. */
export function nextCallId(): string {
  last += 1;
  return `${PROCESS_TAG}-${last.toString(36)}`;
}
