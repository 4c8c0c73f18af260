import { MCPClient } from "../../../packages/toolyard/src/client.ts";
import { FailError } from "../../../packages/toolyard/src/core/errors.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import type { OpenSurface } from "../surface.ts";

export const client: OpenSurface = async ({ url }, token) => {
  const one = new MCPClient({ url: `${url}/mcp?tool_mode=show_all`, token }, {}, { logger: SILENT_LOGGER });
  await one.start();
  return {
    call: async (tool, args, signal) => {
      try {
        return { value: await one.callTool(tool, args, signal ? { signal } : {}) };
      } catch (error) {
        if (error instanceof FailError) return { failure: { kind: error.failure.kind } };
        throw error;
      }
    },
    told: (kind) => ({ kind }),
    close: () => one.stop(),
  };
};
