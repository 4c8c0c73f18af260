import { TRACING } from "../../core/ports/tracing.ts";
import { Type } from "../../core/options/option-schema.ts";
import { ACCESS, HUB, LOGGER, TASKS, TOOL_MODE } from "../../core/services.ts";
import { STATE } from "../../state/ports/store.ts";
import { defineEndpoint } from "../endpoint.ts";
import { MCP_PATH, MESSAGES_PATH, SSE_PATH } from "../paths.ts";
import { DIALECTS, MCP_FACE, REQUEST_RELAY } from "../services.ts";
import { LegacySessionSchema, resolveLegacySessions } from "./legacy/options.ts";
import { MCP_OPTION_SCHEMAS, resolveMcpEndpoint } from "./options.ts";
import type { RemoteHubs, RemoteHubsDeps } from "./remote-hubs.ts";

/**
 * Endpoint of MCP at `/mcp`, `/sse` and `/messages`. It is opened before the other endpoints, since some of them
 * forward requests to it.
 */
export const MCP = defineEndpoint({
  schema: {
    server: Type.Optional(Type.Object({ ...MCP_OPTION_SCHEMAS, sessions: Type.Optional(LegacySessionSchema) })),
  },
  paths: [MCP_PATH, SSE_PATH, MESSAGES_PATH],
  uses: [HUB, LOGGER, STATE, ACCESS, TASKS, TRACING, DIALECTS],
  provides: [MCP_FACE, TOOL_MODE, REQUEST_RELAY],
  resolve: ({ server = {} }) => ({ ...resolveMcpEndpoint(server), sessions: resolveLegacySessions(server.sessions) }),
  open: async (options, services) => {
    const [{ McpEndpoint }, { createMcpParts }] = await Promise.all([
      import("./mcp-endpoint.ts"),
      import("./mcp-parts.ts"),
    ]);
    const remote = await openRemoteHubs(services);
    const parts = createMcpParts(options, { ...services, remote });
    const endpoint = new McpEndpoint({ ...parts, dialects: services.dialects });
    const requestRelay = remote?.requests;
    return Object.assign(endpoint, { services: { mcp: endpoint, defaultMode: options.toolMode, requestRelay } });
  },
});

/** Opens the connection to the other hubs. Its code is loaded only if the store has other hubs. */
async function openRemoteHubs(deps: RemoteHubsDeps): Promise<RemoteHubs | undefined> {
  const { peers } = deps.state;
  return peers && (await import("./create-remote-hubs.ts")).createRemoteHubs(deps, peers);
}
