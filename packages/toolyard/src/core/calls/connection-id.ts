import { PROCESS_TAG } from "../process-tag.ts";

let lastConnection = 0;

/**
 * Names a lasting connection to the rest of the hub, unlike any other connection of any hub. It is no session id: those
 * open doors, and this may stand in a log.
 */
export function connectionId(): string {
  lastConnection += 1;
  return `mcp-${PROCESS_TAG}-${lastConnection}`;
}
