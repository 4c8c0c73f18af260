import { isJsonObject } from "../core/json/json.ts";
import { outboundFailure, statusFailure } from "../outbound/failures.ts";
import { jsonOf, retryAfterMs, type OutboundResponse } from "../outbound/outbound-client.ts";
import type { Backend } from "./backend.ts";
import type { WebSearchOptions } from "./options.ts";
import { readHits, type WebHit } from "./web-hit.ts";
import { firstChars } from "../core/text/truncate.ts";

const NAME = "SearXNG";
const SAFE_SEARCH = { off: "0", moderate: "1", strict: "2" } as const;

/** Adapter for the user's own SearXNG instance. Its settings must include `json` in `search.formats`. */
export const SEARXNG: Backend = {
  name: NAME,
  request: (query, _count, { baseUrl, safeSearch }: WebSearchOptions) => {
    const url = new URL(baseUrl);
    if (!url.pathname.endsWith("/search")) url.pathname = `${url.pathname.replace(/\/$/, "")}/search`;
    for (const [name, value] of Object.entries({ q: query, format: "json", safesearch: SAFE_SEARCH[safeSearch] }))
      url.searchParams.set(name, value);
    return { url, headers: { accept: "application/json" } };
  },
  read: readAnswer,
};

async function readAnswer(response: OutboundResponse): Promise<readonly WebHit[]> {
  if (response.status === 403) {
    throw outboundFailure("denied", {
      service: NAME,
      what: "refused to answer in JSON (HTTP 403). Add `json` to `search.formats` in its settings.yml.",
    });
  }
  if (response.status !== 200) throw statusFailure(NAME, response.status, retryAfterMs(response, Date.now()));
  const answer = jsonOf(response, NAME);
  const results = isJsonObject(answer) ? answer["results"] : undefined;
  if (!isJsonObject(answer) || !Array.isArray(results))
    throw outboundFailure("malformed", {
      service: NAME,
      what: "returned JSON without a list of `results`. Check `web_search.base_url`.",
    });
  const hits = await readHits(results, { title: "title", link: "url", snippet: "content" });
  if (hits.length === 0) assertNobodyFailed(answer["unresponsive_engines"]);
  return hits;
}

const MAX_NAMED = 5;

/**
 * Throws if an instance returns no results and all its engines failed. `unresponsive_engines` contains pairs of name
 * and reason.
 */
function assertNobodyFailed(engines: unknown): void {
  if (!Array.isArray(engines) || engines.length === 0) return;
  const names = engines
    .slice(0, MAX_NAMED)
    .map((one: unknown) => firstChars(Array.isArray(one) ? one.slice(0, 2).map(String).join(": ") : String(one), 80));
  const what = `has no results, because its engines returned none (${names.join("; ")}).`;
  const advice = "Try again later, or enable other engines.";
  throw outboundFailure("unavailable", { service: NAME, what: `${what} ${advice}` });
}
