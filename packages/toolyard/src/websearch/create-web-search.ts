import { resolveWebSearch, type WebSearchConfig } from "./options.ts";
import { WebSearch } from "./web-search.ts";

/**
 * Creates a web search with one service; `search` never rejects, and returns a failure instead. `environment` holds
 * proxy settings. Throws an `OptionError` for an invalid option. `close()` ends its connections.
 */
export function createWebSearch(
  config: WebSearchConfig = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): WebSearch {
  return new WebSearch(resolveWebSearch(config), environment);
}
