import { PROCESS_TAG } from "../process-tag.ts";

let lastConnection = 0;

/**
 * Returns an id for a lasting connection, unique among the connections of all hubs. It may appear in a log, unlike a
 * session id, which grants access.
 */
export function connectionId(): string {
  lastConnection += 1;
  return `mcp-${PROCESS_TAG}-${lastConnection}`;
}
