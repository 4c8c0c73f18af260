/** Fixed paths of the endpoints, below the server's base path. Each endpoint kind refers to its paths. */

export const MCP_PATH = "/mcp";

/** Paths of HTTP+SSE of 2024-11-05: of the stream and of the posts. */
export const SSE_PATH = "/sse";
export const MESSAGES_PATH = "/messages";

/** HTTP paths of the JSON-RPC dialect (G30). */
export const JSON_RPC_PATHS: readonly string[] = ["/", "/jsonrpc"];

/** Paths of the description of REST, for programs and for readers. */
export const OPENAPI_PATH = "/openapi.json";
export const DOCS_PATH = "/docs";

export const WHOAMI_PATH = "/whoami";
export const STATUS_PATH = "/status";
/** Path of the counts of all calls. */
export const CALLS_PATH = "/status/calls";
/** Path of the schedules. */
export const SCHEDULES_PATH = "/status/schedules";
export const METRICS_PATH = "/metrics";
export const READY_PATH = "/readyz";
