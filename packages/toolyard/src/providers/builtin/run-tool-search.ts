import { FURTHER_RESULTS, resolveMaxResults } from "../../catalog/search/limits.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { SearchBounds, SearchInstead } from "../../core/ports/ports.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import { textResult } from "./own-tool.ts";
import type { BuiltinPorts } from "./ports.ts";
import { searchTexts } from "./search-texts.ts";

const NOTHING_FOUND = "No tools found. Try different keywords or a broader search term.";

/** Answers a call of `tool_search`. */
export async function runToolSearch(call: ResolvedCall, { innerHub, unreadyServers }: BuiltinPorts): Promise<Outcome> {
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
