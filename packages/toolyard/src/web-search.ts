export { createWebSearch } from "./websearch/create-web-search.ts";
export type { WebSearchConfig } from "./websearch/options.ts";
export type { WebHit } from "./websearch/web-hit.ts";
export type { WebSearch, WebSearchAnswer, WebSearchRequest } from "./websearch/web-search.ts";
