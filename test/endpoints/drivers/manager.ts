import { MCPManager } from "../../../packages/toolyard/src/manager.ts";
import { isJsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import type { OpenSurface } from "../surface.ts";

/** Tools by the name of their registry line: the service, and the name of the tool there if it differs. */
const TOOLS: Readonly<Record<string, readonly [service: string, tool?: string]>> = {
  say: ["words", "words.say"],
  say_script: ["scripts"],
  say_folder: ["folders"],
  "say.here": ["pipe", "pipe__say.here"],
  "say.there": ["web", "web__say.there"],
  tool_search: ["builtin"],
  internet_search: ["default_tools"],
};
/** Registry lines for a tool that already has one, and lines with the hub's own names. */
const AS_LISTED = ["words.say", "execute_tool", "frail__die", "frail__nonsense", "locked__waits", "web__busy", "twin"];
const FAILING = ["thrown", "strict", "big", "slow", "waits", "single", "destroys"].map((name) => `fail.${name}`);

/**
 * The manager has one error object without an outcome code, which only states whether the service answered. Here the
 * service always answers.
 */
export const manager: OpenSurface = async ({ openPort }) => {
  const line = { host: "127.0.0.1", port: openPort, path: "/mcp?tool_mode=show_all" };
  const services = Object.entries(TOOLS).map(([name, [service, tool]]) => [
    name,
    { ...line, name: `${service} MCP`, ...(tool === undefined ? {} : { tool }) },
  ]);
  const listed = [...AS_LISTED, ...FAILING].map((tool) => [tool, { ...line, name: "Yard MCP" }]);
  const one = new MCPManager(Object.fromEntries([...services, ...listed]), { logger: SILENT_LOGGER });
  return {
    call: async (tool, args, signal) => {
      const value = await one.callTool(tool, args, signal ? { signal } : {});
      if (!isJsonObject(value) || typeof value["error"] !== "string") return { value };
      return { failure: { away: value["error"].endsWith(` unavailable on port ${openPort}`) } };
    },
    told: () => ({ away: false }),
    close: () => one.close(),
  };
};
