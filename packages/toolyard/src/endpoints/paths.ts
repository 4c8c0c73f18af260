/** Fixed paths of the doors, below the server's base path. Each kind of door names its own. */

export const MCP_PATH = "/mcp";

/** HTTP+SSE of 2024-11-05: where a client listens, and where it posts. */
export const SSE_PATH = "/sse";
export const MESSAGES_PATH = "/messages";

/** Where the JSON-RPC dialect is spoken on HTTP (G30). */
export const JSON_RPC_PATHS: readonly string[] = ["/", "/jsonrpc"];

/** The description of REST, for programs and for people. */
export const OPENAPI_PATH = "/openapi.json";
export const DOCS_PATH = "/docs";

export const STATUS_PATH = "/status";
