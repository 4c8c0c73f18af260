import { createWebSearch, type ModuleHub, OptionError, type WebSearch, type WebSearchConfig } from "toolyard";
import type { Environment } from "../shared/environment.ts";
import { answering, ServiceFailure } from "../shared/failure.ts";
import type { Service } from "../shared/service.ts";
import { userAgentOf } from "../shared/service.ts";

interface WebSearchArguments {
  readonly query: string;
  readonly max_results?: number;
}

const INPUT = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, maxLength: 500, description: "Search query." },
    max_results: { type: "integer", minimum: 1, maximum: 20, default: 5, description: "Maximum number of results." },
  },
  required: ["query"],
  additionalProperties: false,
};

const OUTPUT = {
  type: "object",
  properties: {
    query: { type: "string" },
    results: {
      type: "array",
      items: {
        type: "object",
        properties: { title: { type: "string" }, url: { type: "string" }, snippet: { type: "string" } },
        required: ["title", "url", "snippet"],
      },
      description: "Results, best first. Empty only if the search found nothing.",
    },
  },
  required: ["query", "results"],
};

/** The web search service: DuckDuckGo, or SearXNG or Brave by configuration. */
export const webSearch: Service = { name: "web-search", host: "ddgs-mcp", tool: "search_ddgs", port: 50_052, register };

function register(hub: ModuleHub, environment: Environment): void {
  const search = openSearch(environment);
  hub.onClose(() => search.close());
  const handler = answering<WebSearchArguments>(async ({ query, max_results: count = 5 }, { signal }) => {
    const answer = await search.search({ query, count, signal });
    if (!answer.ok) throw new ServiceFailure(inVariables(answer.message), answer.kind);
    return { query, results: answer.hits.map(({ title, link, snippet }) => ({ title, url: link, snippet })) };
  });
  hub.registerTool(
    "search_ddgs",
    handler,
    INPUT,
    "Searches the web and returns titles, URLs and snippets of the best pages. The content of pages is not verified.",
    {
      title: "Web search",
      aliases: ["search_ddgs_tool", "web_search_tool"],
      keywords: ["internet", "search", "web", "DuckDuckGo", "pages", "news"],
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
  );
}

/** Options of `[web_search]` that a variable sets: `WEB_SEARCH_BACKEND`, `WEB_SEARCH_BASE_URL`, … */
const OPTIONS = [
  "backend",
  "base_url",
  "api_key",
  "safe_search",
  "timeout",
  "min_interval",
  "cache",
  "max_body",
  "proxy",
] as const;

function openSearch(environment: Environment): WebSearch {
  const given = OPTIONS.flatMap((name) => {
    const value = environment[`WEB_SEARCH_${name.toUpperCase()}`];
    return value ? [[name, value] as const] : [];
  });
  try {
    return createWebSearch(
      { user_agent: userAgentOf(environment), ...Object.fromEntries(given) } as WebSearchConfig,
      environment,
    );
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(inVariables(error.message), { cause: error });
  }
}

/** Returns a message that names environment variables instead of the options of the configuration file. */
function inVariables(message: string): string {
  return message.replaceAll(/`web_search\.(\w+)`/g, (_, name: string) => `WEB_SEARCH_${name.toUpperCase()}`);
}
