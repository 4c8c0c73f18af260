import { MCP, MCPError } from "../../../packages/toolyard/src/core-server.ts";
import { KINDS } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import type { OpenSurface } from "../surface.ts";

export const core: OpenSurface = async ({ settings, variables }) => {
  const mcp = new MCP({ settings, variables, logger: SILENT_LOGGER });
  await mcp.discoverModules();
  await mcp.getCapabilities();
  return {
    call: async (tool, args, signal) => {
      try {
        return { value: await mcp.executeTool(tool, args, signal ? { signal } : {}) };
      } catch (error) {
        if (error instanceof MCPError) return { failure: { code: error.code } };
        throw error;
      }
    },
    told: (kind) => ({ code: KINDS[kind].jsonrpc }),
    close: () => mcp.close(),
  };
};
