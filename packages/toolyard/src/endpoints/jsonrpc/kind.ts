import { Type } from "../../core/options/option-schema.ts";
import { defineEndpoint } from "../endpoint.ts";
import { LOGGER } from "../../core/services.ts";
import { LateEndpoint } from "../late-endpoint.ts";
import { JSON_RPC_PATHS } from "../paths.ts";
import { DIALECTS, MCP_FACE } from "../services.ts";
import { JSON_RPC_OPTION_SCHEMAS, resolveJsonRpcEndpoint } from "./options.ts";
import { jsonRpcPlaces } from "./places.ts";

/** Endpoint of the JSON-RPC dialect at `/` and `/jsonrpc`, and at `/mcp` if configured. */
export const JSON_RPC = defineEndpoint({
  schema: { server: Type.Optional(Type.Object(JSON_RPC_OPTION_SCHEMAS)) },
  paths: JSON_RPC_PATHS,
  uses: [LOGGER, MCP_FACE, DIALECTS],
  resolve: ({ server }) => {
    const options = resolveJsonRpcEndpoint(server);
    return options.enabled || options.onMcpPath ? options : undefined;
  },
  open: async (options, { logger, mcp, dialects: loadDialects }) => {
    if (options.onMcpPath) mcp.cedePath();
    return new LateEndpoint({
      places: jsonRpcPlaces(options),
      load: async () => {
        const [{ JsonRpcHttpEndpoint }, dialects] = await Promise.all([import("./http-endpoint.ts"), loadDialects()]);
        return new JsonRpcHttpEndpoint({ logger, mcp, dialects }, options);
      },
    });
  },
});
