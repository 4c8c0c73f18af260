/**
 * Sent by a shared hub that `toolyard stop` ends. The client's process keeps it, and starts no other hub before the
 * client sends something.
 */
export const STOPPED_LINE = JSON.stringify({ jsonrpc: "2.0", method: "notifications/toolyard/stopped" });
