import { FURTHER_RESULTS, DEFAULT_RESULTS, MAX_RESULTS, resolveMaxResults } from "../../catalog/search/limits.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { SearchAnswer, SearchBounds, SearchHit, SearchInstead } from "../../core/ports.ts";
import type { ResolvedCall } from "../../core/provider.ts";
import type { Source } from "../../core/records.ts";
import type { FixedTool } from "../fixed-tools.ts";
import { ownToolRecord, textResult } from "./own-tool.ts";
import type { BuiltinPorts } from "./ports.ts";

const NOTHING_FOUND = "No tools found. Try different keywords or a broader search term.";

const DESCRIPTION =
  "Finds tools by what they do, best first. Search for one step of the task at a time, in a few words such as " +
  '"send email"; an empty query ' +
  "lists all tools by name, and the exact name of a tool gives its schema. " +
  "Call what you found by its name, or with execute_tool.";

const SHOWN_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    query: {
      type: "string",
      description: "What the tool should do, in a few words. Empty or left out: all tools by name.",
    },
    max_results: {
      type: "number",
      description: `How many tools to give with their input schema, at most ${MAX_RESULTS}.`,
      default: DEFAULT_RESULTS,
    },
    detail: {
      type: "string",
      enum: ["brief", "full"],
      description: "`brief` leaves the input schemas out.",
      default: "full",
    },
    server: { type: "string", description: "Only tools of this server." },
    read_only: { type: "boolean", description: "Only tools that change nothing.", default: false },
  },
};

/** T's callers send what they like for `max_results`; what is no number above 0 is the default. */
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
 * `tool_search(query?, max_results = 5, detail = "full")`: one text item with the JSON array `{name, description,
 * score, inputSchema}`; where more tools match, a second one names up to 20 of them, a line each, and says how many
 * there are.
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
  });
  return { record, run: (call) => search(call, ports) };
}

async function search(call: ResolvedCall, { innerHub }: BuiltinPorts): Promise<Outcome> {
  const { query, max_results: wanted, detail, server, read_only: readOnly } = call.arguments;
  const words = typeof query === "string" ? query : "";
  const count = resolveMaxResults(wanted);
  const bounds: SearchBounds = {
    ...(typeof server === "string" && { server }),
    readOnly: readOnly === true,
    limit: count + FURTHER_RESULTS,
  };
  const answer = await innerHub.search(words, call, bounds);
  if (answer.hits.length === 0) return nothingFound(answer.instead, bounds.server);
  const first = JSON.stringify(answer.hits.slice(0, count).map((hit) => shownHit(hit, detail === "brief")));
  const rest = [
    furtherText(answer, count, words.trim() === ""),
    queryWordCount(words) > MANY_WORDS ? ONE_STEP : undefined,
  ].filter((text) => text !== undefined);
  return textResult(first, ...rest);
}

/** A query of more words is about more than one step of a task, most of the time. */
const MANY_WORDS = 20;
const ONE_STEP = "This was a long query. Search for one step of the task at a time, in a few words.";

function queryWordCount(query: string): number {
  return query.split(/\s+/).filter((word) => word !== "").length;
}

const MAX_SERVERS = 30;

/** T's sentence; after it, when there is something to tell, what is written much alike and which servers there are. */
function nothingFound(
  { near = [], servers = [], noSuchServer = false }: Partial<SearchInstead> = {},
  server = "",
): Outcome {
  const shown = servers.slice(0, MAX_SERVERS).map(({ id, tools }) => `${id} (${tools})`);
  const unshown = servers.length > MAX_SERVERS ? `, and ${servers.length - MAX_SERVERS} more` : "";
  const lines = [
    ...(noSuchServer && server !== "" ? [`There is no server \`${server}\`.`] : []),
    ...(near.length > 0 ? [`Names much like it: ${near.join(", ")}.`] : []),
    ...(shown.length > 0 ? [`Servers, with their number of tools: ${shown.join(", ")}${unshown}.`] : []),
  ];
  return lines.length === 0 ? textResult(NOTHING_FOUND) : textResult(NOTHING_FOUND, lines.join("\n"));
}

function shownHit({ name, description, score, inputSchema }: SearchHit, isBrief: boolean): JsonObject {
  return isBrief ? { name, description, score } : { name, description, score, inputSchema };
}

/** Nothing when the first text says it all. A list of everything always says how many tools there are. */
function furtherText({ hits, total }: SearchAnswer, count: number, isList: boolean): string | undefined {
  const further = hits.slice(count, count + FURTHER_RESULTS);
  const matching = isList
    ? `There ${total === 1 ? "is 1 tool" : `are ${total} tools`} in all`
    : `${total} tools match in all`;
  if (further.length === 0) return isList ? `${matching}.` : undefined;
  const unnamed = total - count - further.length;
  const last =
    unnamed > 0
      ? [`and ${unnamed} more: ${isList ? "ask for what you need in a few words" : "a narrower query finds them"}.`]
      : [];
  const lines = further.map(
    ({ name, server, description }) =>
      `- ${name}${name.startsWith(server) ? "" : ` (${server})`}${oneLine(description)}`,
  );
  return [`${matching}. The next ones, without schema (search for a name to get it):`, ...lines, ...last].join("\n");
}

const MAX_LINE_CHARS = 100;

/** The first sentence of a description, cut where it is too long for a line. */
function oneLine(description: string): string {
  const text = description
    .slice(0, 4 * MAX_LINE_CHARS)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (text === "") return "";
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
  return `: ${sentence.length > MAX_LINE_CHARS ? `${sentence.slice(0, MAX_LINE_CHARS - 1).trimEnd()}…` : sentence}`;
}
