import { servingKey } from "../core/service-key.ts";
import type { Dialect } from "./dialect.ts";
import type { McpFace, TlsReport } from "./endpoint.ts";

/** All of MCP, for endpoints that also serve it at their paths. */
export const MCP_FACE = servingKey<McpFace>()("mcp");
/** Dialects after MCP, in order: a method goes to the first that knows it. Loaded at the first request for them. */
export const DIALECTS = servingKey<() => Promise<readonly Dialect[]>>()("dialects");
/** Reports on the certificate of the port; `undefined` if this hub does not encrypt. */
export const CERTIFICATE = servingKey<(() => TlsReport) | undefined>()("tls");
