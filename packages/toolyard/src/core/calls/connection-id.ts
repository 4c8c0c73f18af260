import { PROCESS_TAG } from "../process-tag.ts";

let lastConnection = 0;

/**
 * Returns a name of a lasting connection, unique among the connections of every hub. It is not a session id: a session
 * id grants access, while this may appear in a log.
 */
export function connectionId(): string {
  lastConnection += 1;
  return `mcp-${PROCESS_TAG}-${lastConnection}`;
}
