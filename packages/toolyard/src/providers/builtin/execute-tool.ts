import type { JsonObject } from "../../core/json/json.ts";
import type { Source } from "../../core/sources/records.ts";
import { lateHandler, type FixedTool } from "../fixed-tools.ts";
import { ownToolRecord } from "./own-tool.ts";
import type { BuiltinPorts } from "./ports.ts";

const NAME = "execute_tool";

const SHOWN_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", description: "Tool name from tool_search." },
    arguments: { type: "object", description: "Arguments for the tool." },
  },
  required: ["name"],
};

/**
 * Input schema that is checked. It also accepts `parameters` and the object as text (C5), because models write these. A
 * missing name is accepted too, because the tool itself answers with the required message.
 */
const ACCEPTED_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    name: {},
    arguments: { type: ["object", "string", "null"] },
    parameters: { type: ["object", "string", "null"] },
  },
};

/**
 * Creates `execute_tool(name, arguments)`: calls any tool that its caller may call, and returns that tool's answer.
 */
export function executeTool(source: Source, ports: BuiltinPorts): FixedTool {
  const record = ownToolRecord(source, {
    name: NAME,
    title: "Execute tool",
    description: "Calls a tool by name. tool_search finds tools and their arguments.",
    inputSchema: SHOWN_SCHEMA,
    acceptedSchema: ACCEPTED_SCHEMA,
    annotations: { openWorldHint: true },
    role: "discovery",
    searchHint: "call a tool of a connected server by name",
    // This tool has no limits of its own, because the limits of the called tool apply. A lower limit here would end
    // that call early.
    limits: { timeoutMs: Infinity, maxResultBytes: Infinity },
  });
  const run = lateHandler(async () => {
    const { runExecuteTool } = await import("./run-execute-tool.ts");
    return (call) => runExecuteTool(call, NAME, ports);
  });
  return { record, run };
}
