import { FURTHER_RESULTS, MAX_RESULTS, resolveMaxResults } from "../../catalog/search/limits.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { SearchBounds, SearchInstead } from "../../core/ports/ports.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import type { FixedTool } from "../fixed-tools.ts";
import { ownToolRecord, textResult } from "./own-tool.ts";
import type { BuiltinPorts } from "./ports.ts";
import { searchTexts } from "./search-texts.ts";

const NOTHING_FOUND = "No tools found. Try different keywords or a broader search term.";

const DESCRIPTION =
  'Finds tools by what they do, best first. Search for one step in a few words ("send email"). An empty query ' +
  "lists all tools; an exact tool name returns its schema. Call tools by name, or with execute_tool.";

const SHOWN_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    query: { type: "string", description: "What the tool must do." },
    max_results: {
      type: "number",
      description: `Results, all with schema; at most ${MAX_RESULTS}. Default: 5, only the best with schema.`,
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
  return { record, run: (call) => search(call, ports) };
}

async function search(call: ResolvedCall, { innerHub, unreadyServers }: BuiltinPorts): Promise<Outcome> {
  const { query, max_results: wanted, detail, server, read_only: readOnly } = call.arguments;
  const words = typeof query === "string" ? query : "";
  const count = resolveMaxResults(wanted);
  const bounds: SearchBounds = {
    ...(typeof server === "string" && { server }),
    readOnly: readOnly === true,
    nearest: true,
    limit: count + FURTHER_RESULTS,
  };
  const answer = await innerHub.search(words, call, bounds);
  const unready = unreadyText(unreadyServers(call));
  if (answer.hits.length === 0) return nothingFound([...insteadLines(answer.instead, bounds.server), ...unready]);
  const texts = searchTexts(answer, {
    count,
    detail: detail === "brief" ? "brief" : "full",
    isWhole: isGiven(wanted) || detail === "full",
    isList: words.trim() === "",
  });
  return textResult(...texts, ...(queryWordCount(words) > MANY_WORDS ? [ONE_STEP] : []), ...unready);
}

function unreadyText(servers: readonly string[]): readonly string[] {
  return servers.length === 0 ? [] : [`Not ready, so tools may be missing here: ${servers.join("; ")}.`];
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Number of words above which a query usually covers more than one step of a task. */
const MANY_WORDS = 20;
const ONE_STEP = "This was a long query. Search for one step of the task at a time, in a few words.";

function queryWordCount(query: string): number {
  return query.split(/\s+/).filter((word) => word !== "").length;
}

const MAX_SERVERS = 30;

/** Returns the required sentence, followed by the given lines. */
function nothingFound(lines: readonly string[]): Outcome {
  return lines.length === 0 ? textResult(NOTHING_FOUND) : textResult(NOTHING_FOUND, lines.join("\n"));
}

/** Returns lines with similar names and with the available servers. */
function insteadLines(
  { near = [], servers = [], noSuchServer = false }: Partial<SearchInstead> = {},
  server = "",
): readonly string[] {
  const shown = servers.slice(0, MAX_SERVERS).map(({ id, tools }) => `${id} (${tools})`);
  const unshown = servers.length > MAX_SERVERS ? `, and ${servers.length - MAX_SERVERS} more` : "";
  return [
    ...(noSuchServer && server !== "" ? [`There is no server \`${server}\`.`] : []),
    ...(near.length > 0 ? [`Similar names: ${near.join(", ")}.`] : []),
    ...(shown.length > 0 ? [`Servers, with their number of tools: ${shown.join(", ")}${unshown}.`] : []),
  ];
}
