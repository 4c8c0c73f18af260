import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";

/** Keys of `[server]` that the JSON-RPC endpoint adds. */
export const JSON_RPC_OPTION_SCHEMAS = {
  jsonrpc: Type.Optional(
    Type.Boolean({
      description: "Serves the JSON-RPC dialect (a tool's name is a method) on stdio and at `/` and `/jsonrpc`.",
      default: true,
    }),
  ),
  legacy: Type.Optional(
    Type.Boolean({ description: "Serves it at `/mcp` too; by default `/mcp` serves only MCP.", default: false }),
  ),
} as const;

const JsonRpcEndpointSchema = Type.Object(JSON_RPC_OPTION_SCHEMAS, { description: "The JSON-RPC dialect." });
export type JsonRpcEndpointConfig = Static<typeof JsonRpcEndpointSchema>;

export interface JsonRpcEndpointOptions {
  /** Enables the dialect on stdio, at `/` and at `/jsonrpc`. */
  readonly enabled: boolean;
  /** Enables the dialect at `/mcp`. */
  readonly onMcpPath: boolean;
}

export function resolveJsonRpcEndpoint(raw: JsonRpcEndpointConfig = {}): JsonRpcEndpointOptions {
  const { jsonrpc: enabled, legacy: onMcpPath } = readOptions(JsonRpcEndpointSchema, raw);
  return Object.freeze({ enabled, onMcpPath });
}
