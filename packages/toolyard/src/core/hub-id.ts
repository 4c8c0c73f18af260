import { PROCESS_TAG } from "./process-tag.ts";

let lastHub = 0;

/** Returns the id of a new hub, unique among all hubs. */
export function nextHubId(): string {
  lastHub += 1;
  return `hub-${PROCESS_TAG}-${lastHub}`;
}

/** Ids that `nextHubId` returns. */
const HUB_ID = /^hub-[\da-f]{1,32}-\d{1,9}$/;

/** Returns true if a text has the form of an id. Such a hub may not exist. */
export function isHubId(text: string): boolean {
  return HUB_ID.test(text);
}
