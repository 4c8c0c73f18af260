import type { RoutePlace } from "../../http/router.ts";
import { JSON_RPC_PATHS, MCP_PATH } from "../paths.ts";
import type { JsonRpcEndpointOptions } from "./options.ts";

const METHODS = ["GET", "POST", "DELETE"];

/** Returns every HTTP path at which the dialect is served. */
export function jsonRpcPlaces({ enabled, onMcpPath }: JsonRpcEndpointOptions): readonly RoutePlace[] {
  const paths = [...(enabled ? JSON_RPC_PATHS : []), ...(onMcpPath ? [MCP_PATH] : [])];
  return paths.map((path) => ({ path, methods: METHODS }));
}
