import { bytesOption } from "../core/text/bytes.ts";
import { durationOption } from "../core/text/duration.ts";
import { OptionError } from "../core/errors.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { readOptions } from "../core/options/option-values.ts";
import type { Starts } from "../core/sources/table-facts.ts";
import { VERSION } from "../core/version.ts";

export const WebSearchSchema = Type.Object(
  {
    backend: Type.Optional(
      Type.Enum(["duckduckgo", "searxng", "brave"], {
        description: "Search service. `duckduckgo` needs no key; `searxng` needs `base_url`; `brave` needs `api_key`.",
        default: "duckduckgo",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        description:
          "URL of the service. Absent: the backend's own URL. " +
          "`https://lite.duckduckgo.com/lite/` also works with `duckduckgo`.",
        examples: ["http://searxng.local:8080"],
      }),
    ),
    api_key: Type.Optional(Type.Secret({ description: "API key of `brave`." })),
    safe_search: Type.Optional(
      Type.Enum(["off", "moderate", "strict"], { description: "Filter for explicit results.", default: "moderate" }),
    ),
    timeout: Type.Optional(
      durationOption(
        { description: "Time limit of one request.", default: "10s" },
        { least: 1, most: 600_000, must: "must be from 1 ms to 10 minutes" },
      ),
    ),
    min_interval: Type.Optional(
      durationOption({ description: "Minimum time between two requests. Absent: 1 s; none for `searxng`." }),
    ),
    cache: Type.Optional(
      durationOption({ description: "Time for which a result is cached; 0 disables the cache.", default: "5m" }),
    ),
    max_body: Type.Optional(
      bytesOption({ description: "Maximum size of one response of the service.", default: "2MiB" }),
    ),
    user_agent: Type.Optional(
      Type.String({ description: "`User-Agent` header. Default: `toolyard/` and the version.", minLength: 1 }),
    ),
    proxy: Type.Optional(
      Type.Secret({
        description: "URL of a proxy, or `none`. Absent: HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment.",
      }),
    ),
  },
  { description: "Search service of `internet_search` and of the web-search service." },
);
/**
 * Describes the effect of web search to the user who accepts a configuration: a key in the environment is sent to the
 * configured URL.
 */
export const WEB_SEARCH_STARTS: Starts = {
  keys: ["backend", "base_url", "api_key", "proxy"],
  shownKeys: ["base_url", "proxy"],
  before: "asks",
  sendsTo: ["base_url"],
};
export type WebSearchConfig = Static<typeof WebSearchSchema>;

export type BackendName = "duckduckgo" | "searxng" | "brave";

export interface WebSearchOptions {
  readonly backend: BackendName;
  readonly baseUrl: URL;
  readonly apiKey?: string;
  readonly safeSearch: "off" | "moderate" | "strict";
  readonly timeoutMs: number;
  readonly minIntervalMs: number;
  readonly cacheMs: number;
  readonly maxBodyBytes: number;
  readonly userAgent: string;
  /** Proxy. Absent: from the environment. */
  readonly proxy?: string;
}

const BASE_URLS: Readonly<Record<BackendName, string | undefined>> = {
  duckduckgo: "https://html.duckduckgo.com/html/",
  searxng: undefined,
  brave: "https://api.search.brave.com/res/v1/web/search",
};
const PUBLIC_INTERVAL_MS = 1000;

/** Returns the checked options with defaults. Throws an `OptionError` that names the option and contains no secret. */
export function resolveWebSearch(raw: WebSearchConfig = {}): WebSearchOptions {
  const options = readOptions(WebSearchSchema, raw, "web_search.");
  const { backend, api_key: apiKey, proxy } = options;
  if (backend === "brave" && !apiKey)
    throw new OptionError('`web_search.backend` is "brave", which needs a key. Set `web_search.api_key`.');
  return Object.freeze({
    backend,
    baseUrl: resolveBaseUrl(backend, options.base_url),
    ...(apiKey ? { apiKey } : {}),
    safeSearch: options.safe_search,
    timeoutMs: options.timeout,
    minIntervalMs: options.min_interval ?? (backend === "searxng" ? 0 : PUBLIC_INTERVAL_MS),
    cacheMs: options.cache,
    maxBodyBytes: options.max_body,
    userAgent: checkedUserAgent(options.user_agent ?? `toolyard/${VERSION}`),
    ...(proxy !== undefined && { proxy }),
  });
}

// The URL may contain a key, so the message does not repeat it.
function resolveBaseUrl(backend: BackendName, given: string | undefined): URL {
  const text = given ?? BASE_URLS[backend];
  if (text === undefined)
    throw new OptionError(
      `\`web_search.backend\` is "${backend}": set \`web_search.base_url\`, such as http://localhost:8080.`,
    );
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new OptionError("`web_search.base_url` must be a URL that begins with http:// or https://.");
  if (url.username !== "" || url.password !== "")
    throw new OptionError(
      "`web_search.base_url` holds a user name or a password, which is not supported. Remove them.",
    );
  return url;
}

function checkedUserAgent(text: string): string {
  if (/^[\x20-\x7e]{1,200}$/.test(text)) return text;
  throw new OptionError("`web_search.user_agent` must be 1 to 200 printable ASCII characters.");
}
