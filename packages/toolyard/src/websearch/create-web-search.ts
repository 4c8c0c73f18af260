import { resolveWebSearch, type WebSearchConfig } from "./options.ts";
import { WebSearch } from "./web-search.ts";

/**
 * Creates a web search with one service. `search` never rejects; it returns a failure instead. `environment` contains
 * proxy settings. Throws an `OptionError` for an invalid option. `close()` closes its connections.
 */
export function createWebSearch(
  config: WebSearchConfig = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): WebSearch {
  return new WebSearch(resolveWebSearch(config), environment);
}
