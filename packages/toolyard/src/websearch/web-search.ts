import { stringifyExact } from "../core/json/exact-json.ts";
import { FailError } from "../core/errors.ts";
import { fail, type Fail } from "../core/calls/outcome.ts";
import { FreshCache } from "../outbound/fresh-cache.ts";
import { OutboundClient } from "../outbound/outbound-client.ts";
import { Pace } from "../outbound/pace.ts";
import type { ProxyEnvironment } from "../outbound/proxy.ts";
import { askBackend, type Backend } from "./backend.ts";
import { BRAVE } from "./brave.ts";
import { DUCKDUCKGO } from "./duckduckgo.ts";
import type { BackendName, WebSearchOptions } from "./options.ts";
import { SEARXNG } from "./searxng.ts";
import type { WebHit } from "./web-hit.ts";

export interface WebSearchRequest {
  readonly query: string;
  /** Number of hits, 1 to 20; a service may return fewer. @default 5 */
  readonly count?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Hits, best first, or a failure. An empty list means that the service found nothing. */
export type WebSearchAnswer = { readonly ok: true; readonly hits: readonly WebHit[] } | Fail;

export const DEFAULT_COUNT = 5;
export const MAX_COUNT = 20;
export const MAX_QUERY_CHARS = 500;

const BACKENDS: Readonly<Record<BackendName, Backend>> = { duckduckgo: DUCKDUCKGO, searxng: SEARXNG, brave: BRAVE };
const MAX_CACHED = 100;
const MAX_WAITING = 16;
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 300_000;

/**
 * Searches the web with one configured service, within its rate limit. Loads and opens nothing before the first search.
 */
export class WebSearch {
  readonly #options: WebSearchOptions;
  readonly #backend: Backend;
  readonly #client: OutboundClient;
  readonly #pace: Pace;
  readonly #cache: FreshCache<{ readonly count: number; readonly hits: readonly WebHit[] }>;

  /** @param environment Proxy settings. */
  constructor(options: WebSearchOptions, environment: ProxyEnvironment) {
    this.#options = options;
    this.#backend = BACKENDS[options.backend];
    this.#client = new OutboundClient({
      userAgent: options.userAgent,
      environment,
      ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
    });
    this.#pace = new Pace({ service: this.#backend.name, intervalMs: options.minIntervalMs, maxWaiting: MAX_WAITING });
    this.#cache = new FreshCache(options.cacheMs, MAX_CACHED);
  }

  /** Searches the web. Never rejects: an error is a failure with an error code. */
  async search({ query, count = DEFAULT_COUNT, signal }: WebSearchRequest): Promise<WebSearchAnswer> {
    const words = query.trim();
    if (words === "" || words.length > MAX_QUERY_CHARS)
      return fail("invalid_params", `\`query\` must be 1 to ${MAX_QUERY_CHARS} characters, got ${words.length}.`);
    if (!Number.isInteger(count) || count < 1 || count > MAX_COUNT)
      return fail(
        "invalid_params",
        `The number of results must be a whole number from 1 to ${MAX_COUNT}, got ${stringifyExact(count)}.`,
      );
    const known = this.#cache.get(words);
    if (known && known.count >= count) return { ok: true, hits: known.hits.slice(0, count) };
    try {
      const hits = await this.#ask(words, count, signal);
      this.#cache.set(words, { count, hits });
      return { ok: true, hits: hits.slice(0, count) };
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      return error.failure;
    }
  }

  /** Closes all connections. */
  close(): Promise<void> {
    return this.#client.close();
  }

  async #ask(query: string, count: number, signal: AbortSignal | undefined): Promise<readonly WebHit[]> {
    await this.#pace.turn(signal);
    try {
      return await askBackend(
        this.#backend,
        { query, count, signal },
        { client: this.#client, options: this.#options },
      );
    } catch (error) {
      if (error instanceof FailError && error.failure.kind === "limited")
        this.#pace.pause(Math.min(Math.max(error.failure.retryAfterMs ?? MIN_PAUSE_MS, MIN_PAUSE_MS), MAX_PAUSE_MS));
      throw error;
    }
  }
}
