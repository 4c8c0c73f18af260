import type { JsonObject } from "../../core/json/json.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import { DEFAULT_COUNT, MAX_COUNT, MAX_QUERY_CHARS, type WebSearch } from "../../websearch/web-search.ts";
import type { FixedTool } from "../fixed-tools.ts";
import { defaultToolRecord, endOfCall, failedResult, valueResult } from "./default-tool.ts";

const INPUT: JsonObject = {
  type: "object",
  properties: {
    query: {
      type: "string",
      description: `Search query, at most ${MAX_QUERY_CHARS} characters.`,
      minLength: 1,
      maxLength: MAX_QUERY_CHARS,
    },
    num_results: {
      type: "integer",
      description: `Number of results, at most ${MAX_COUNT}.`,
      minimum: 1,
      default: DEFAULT_COUNT,
    },
  },
  required: ["query"],
};

const OUTPUT: JsonObject = {
  type: "object",
  properties: {
    search_results: {
      type: "array",
      items: {
        type: "object",
        properties: { title: { type: "string" }, link: { type: "string" }, snippet: { type: "string" } },
        required: ["title", "link", "snippet"],
      },
    },
    note: { type: "string", description: "Present if more results were requested than one search returns." },
    error: { type: "string", description: "Reason why there are no results; absent if the search succeeded." },
  },
  required: ["search_results"],
};

/**
 * Creates `internet_search(query, num_results = 5)`, which returns `{search_results: [{title, link, snippet}],
 * error?}`.
 */
export function internetSearch(source: Source, search: WebSearch): FixedTool {
  const record = defaultToolRecord(source, {
    name: "internet_search",
    title: "Search the web",
    description: "Searches the web. Returns titles, links and short extracts, best match first.",
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    annotations: { readOnlyHint: true, openWorldHint: true },
    keywords: ["web", "internet", "search", "find", "news", "duckduckgo"],
  });
  return { record, run: (call) => run(call, search) };
}

async function run(call: ResolvedCall, search: WebSearch): Promise<Outcome> {
  const { query, num_results: wanted = DEFAULT_COUNT } = call.arguments as { query: string; num_results?: number };
  const answer = await search.search({ query, count: Math.min(wanted, MAX_COUNT), signal: call.signal });
  if (answer.ok)
    return valueResult({ search_results: answer.hits, ...(wanted > MAX_COUNT && { note: noteOn(wanted) }) });
  const value = { search_results: [], error: answer.message };
  return endOfCall(answer, call) ?? failedResult(answer.message, value, answer.kind);
}

function noteOn(wanted: number): string {
  return `${wanted} results were requested, but one search returns at most ${MAX_COUNT}. Use a narrower query.`;
}
