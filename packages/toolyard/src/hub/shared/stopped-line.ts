/**
 * Line that a shared hub sends when `toolyard stop` ends it. The client's process does not forward it, and starts no
 * other hub until the client sends something.
 */
export const STOPPED_LINE = JSON.stringify({ jsonrpc: "2.0", method: "notifications/toolyard/stopped" });
