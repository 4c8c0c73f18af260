import { servingKey } from "../core/service-key.ts";
import type { Dialect } from "./dialect.ts";
import type { McpFace, TlsReport } from "./endpoint.ts";
import type { RequestRelay } from "./request-relay.ts";

/** MCP on HTTP, for endpoints that also serve it at their paths. */
export const MCP_FACE = servingKey<McpFace>()("mcp");
/**
 * Loads the dialects that are tried after MCP, in order: a method goes to the first one that knows it. They are loaded
 * by the first request for them.
 */
export const DIALECTS = servingKey<() => Promise<readonly Dialect[]>>()("dialects");
/** Passes requests to the other hubs of the store. `undefined` if only this process uses the store. */
export const REQUEST_RELAY = servingKey<RequestRelay | undefined>()("requestRelay");
/** Returns the state of the port's certificate. `undefined` if this hub does not encrypt. */
export const CERTIFICATE = servingKey<(() => TlsReport) | undefined>()("tls");
