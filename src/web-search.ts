import { resolveWebSearch, type WebSearchConfig } from "./websearch/options.ts";
import { WebSearch } from "./websearch/web-search.ts";

export type { WebSearchConfig } from "./websearch/options.ts";
export type { WebHit } from "./websearch/web-hit.ts";
export type { WebSearch, WebSearchAnswer, WebSearchRequest } from "./websearch/web-search.ts";

/** A web search by the options of `[web_search]`. Throws an `OptionError`; `close()` ends its connections. `variables` hold proxy settings. */
export function createWebSearch(config: WebSearchConfig = {}, variables: Readonly<Record<string, string | undefined>> = process.env): WebSearch {
  return new WebSearch(resolveWebSearch(config), variables);
}
