import { MCPManager } from "../../../src/manager.ts";
import { isJsonObject } from "../../../src/core/json.ts";
import { SILENT_LOGGER } from "../../../src/core/ports.ts";
import type { OpenSurface } from "../surface.ts";

const TOOLS = ["words.say", "say_script", "say_folder", "pipe__say.here", "web__say.there", "tool_search", "execute_tool", "frail__die", "frail__nonsense", "locked__waits"];
const FAILING = ["thrown", "strict", "big", "slow", "waits", "single"].map((name) => `fail.${name}`);
/** One error object for whatever it was: it says no kind, only whether the service answered. Here it always does. */
export const manager: OpenSurface = async ({ openPort }) => {
  const line = { host: "127.0.0.1", port: openPort, path: "/mcp?tool_mode=show_all", name: "Yard MCP" };
  const one = new MCPManager(Object.fromEntries([...TOOLS, ...FAILING].map((tool) => [tool, line])), { logger: SILENT_LOGGER });
  return {
    call: async (tool, args, signal) => {
      const value = await one.callTool(tool, args, signal ? { signal } : {});
      if (!isJsonObject(value) || typeof value["error"] !== "string") return { value };
      return { failure: { away: value["error"] === `Yard MCP unavailable on port ${openPort}` } };
    },
    told: () => ({ away: false }),
    close: () => one.close(),
  };
};
