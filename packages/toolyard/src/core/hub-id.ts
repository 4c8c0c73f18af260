import { PROCESS_TAG } from "./process-tag.ts";

let lastHub = 0;

/** Returns the id of a new hub, unique among all hubs. */
export function nextHubId(): string {
  lastHub += 1;
  return `hub-${PROCESS_TAG}-${lastHub}`;
}
