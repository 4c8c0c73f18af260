import { resolveWebSearch, type WebSearchConfig } from "./options.ts";
import { WebSearch } from "./web-search.ts";

/**
 * A search of the web by one service; `search` never rejects, and gives a failure where there is one. `environment`
 * holds proxy settings. Throws an `OptionError` when an option cannot be used. `close()` ends its connections.
 */
export function createWebSearch(
  config: WebSearchConfig = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): WebSearch {
  return new WebSearch(resolveWebSearch(config), environment);
}
