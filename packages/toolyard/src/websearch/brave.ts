import { isJsonObject, objectMember, stringMember } from "../core/json/json.ts";
import { outboundFailure, statusFailure } from "../outbound/failures.ts";
import { jsonOf, retryAfterMs, type OutboundResponse } from "../outbound/outbound-client.ts";
import type { Backend } from "./backend.ts";
import type { WebSearchOptions } from "./options.ts";
import { readHits, type WebHit } from "./web-hit.ts";

const NAME = "Brave Search";
/** Maximum count that the API accepts. */
const MAX_COUNT = 20;

/** Adapter for the web search of Brave's API. */
export const BRAVE: Backend = {
  name: NAME,
  request: (query, count, { baseUrl, apiKey = "", safeSearch }: WebSearchOptions) => {
    const url = new URL(baseUrl);
    for (const [name, value] of Object.entries({
      q: query,
      count: String(Math.min(count, MAX_COUNT)),
      safesearch: safeSearch,
      text_decorations: "false",
    }))
      url.searchParams.set(name, value);
    return { url, headers: { accept: "application/json", "x-subscription-token": apiKey } };
  },
  read: readAnswer,
};

async function readAnswer(response: OutboundResponse): Promise<readonly WebHit[]> {
  if (response.status !== 200) throw refusal(response);
  const answer = jsonOf(response, NAME);
  if (!isJsonObject(answer) || answer["type"] !== "search")
    throw outboundFailure("malformed", {
      service: NAME,
      what: "returned JSON that is not a search result. Check `web_search.base_url`.",
    });
  // A response without `web` means that no page matches, so the list is empty.
  const results = objectMember(answer, "web")?.["results"] ?? [];
  if (!Array.isArray(results))
    throw outboundFailure("malformed", { service: NAME, what: "returned a search result without a list of results." });
  return readHits(results, { title: "title", link: "url", snippet: "description" });
}

/** Returns the error of a response: `{type: "ErrorResponse", error: {code, detail}}`. A wrong key has status 422. */
function refusal(response: OutboundResponse): Error {
  const { status } = response;
  const code = codeOf(response);
  if (status === 401 || status === 403 || code === "SUBSCRIPTION_TOKEN_INVALID") {
    return outboundFailure("denied", {
      service: NAME,
      what: `does not accept the key (HTTP ${status}). Check \`web_search.api_key\`.`,
    });
  }
  if (status === 422)
    return outboundFailure("invalid_params", {
      service: NAME,
      what: "does not accept the query (HTTP 422). Use a shorter query.",
    });
  return statusFailure(
    NAME,
    status,
    retryAfterMs(response, Date.now()) ?? (status === 429 ? resetMs(response) : undefined),
  );
}

function codeOf(response: OutboundResponse): string | undefined {
  try {
    const answer = jsonOf(response, NAME);
    return isJsonObject(answer) ? stringMember(objectMember(answer, "error") ?? {}, "code") : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the time until the limit resets, from `X-RateLimit-Reset: 1, 1419704`: seconds for each limit, the first for
 * the limit per second.
 */
function resetMs(response: OutboundResponse): number | undefined {
  const seconds = Number(response.header("x-ratelimit-reset")?.split(",")[0]);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
