import { MAX_RESULTS } from "../../catalog/search/limits.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Source } from "../../core/sources/records.ts";
import { lateHandler, type FixedTool } from "../fixed-tools.ts";
import { ownToolRecord } from "./own-tool.ts";
import type { BuiltinPorts } from "./ports.ts";

const DESCRIPTION =
  'Finds tools by what they do, best first. Search for one step in a few words ("send email"). An empty query ' +
  "lists all tools; an exact tool name returns its schema. Call tools by name, or with execute_tool.";

const SHOWN_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    query: { type: "string", description: "What the tool must do." },
    max_results: {
      type: "number",
      description: `Count, all with schema; at most ${MAX_RESULTS}. Default: 5, only the best with schema.`,
    },
    detail: {
      type: "string",
      enum: ["brief", "full"],
      description: "`brief`: no schemas; `full`: all schemas.",
    },
    server: { type: "string", description: "Only tools of this server." },
    read_only: { type: "boolean", description: "Only read-only tools." },
  },
};

/**
 * Input schema that is checked. It accepts any value for `max_results`; a value that is not a number above 0 counts as
 * the default.
 */
const ACCEPTED_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    query: { type: ["string", "null"] },
    max_results: {},
    detail: { enum: ["brief", "full", null] },
    server: { type: ["string", "null"] },
    read_only: { type: ["boolean", "null"] },
  },
};

/**
 * Creates `tool_search(query?, max_results?, detail?)`, which returns one text with the JSON array that clients expect.
 * With `max_results` or `detail = "full"`, every entry is `{name, description, score, inputSchema}`. Without both, this
 * applies to the first one to three of five entries, and the others are `{name, description, score, parameters}` with
 * the names of the parameters. `brief` omits schemas and parameters. If more tools match, a second text names some, one
 * per line, and states the number.
 */
export function toolSearch(source: Source, ports: BuiltinPorts): FixedTool {
  const record = ownToolRecord(source, {
    name: "tool_search",
    title: "Search tools",
    description: DESCRIPTION,
    inputSchema: SHOWN_SCHEMA,
    acceptedSchema: ACCEPTED_SCHEMA,
    annotations: { readOnlyHint: true, openWorldHint: false },
    role: "discovery",
    searchHint: "find tools of connected servers",
  });
  const run = lateHandler(async () => {
    const { runToolSearch } = await import("./run-tool-search.ts");
    return (call) => runToolSearch(call, ports);
  });
  return { record, run };
}
