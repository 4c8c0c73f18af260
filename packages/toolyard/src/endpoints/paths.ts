/** Fixed paths of the endpoints, below the server's base path. Each kind of endpoint names its own. */

export const MCP_PATH = "/mcp";

/** HTTP+SSE of 2024-11-05: the paths of the stream and of the posts. */
export const SSE_PATH = "/sse";
export const MESSAGES_PATH = "/messages";

/** HTTP paths of the JSON-RPC dialect (G30). */
export const JSON_RPC_PATHS: readonly string[] = ["/", "/jsonrpc"];

/** The description of REST, for programs and for readers. */
export const OPENAPI_PATH = "/openapi.json";
export const DOCS_PATH = "/docs";

export const WHOAMI_PATH = "/whoami";
export const STATUS_PATH = "/status";
export const READY_PATH = "/readyz";
