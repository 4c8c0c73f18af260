import { Deadline } from "../core/calls/deadline.ts";
import { FailError, OptionError } from "../core/errors.ts";
import { FreshCache } from "./fresh-cache.ts";
import { outboundTimeout, statusFailure } from "./failures.ts";
import { jsonOf, OutboundClient, retryAfterMs, type OutboundResponse } from "./outbound-client.ts";
import { Pace, type PaceClock } from "./pace.ts";
import type { ProxyEnvironment } from "./proxy.ts";
import { firstChars } from "../core/text/truncate.ts";

export interface HttpSourceOptions {
  /** Name of the service for users. Error messages begin with it. */
  readonly service: string;
  /** Base address of all paths. It may be in a private network. */
  readonly url: URL | string;
  /** Value of `User-Agent`, sent with every request to identify the program. */
  readonly userAgent: string;
  /** Time limit of one request in milliseconds, including time in the queue. @default 10000 */
  readonly timeoutMs?: number;
  /** Maximum size of one answer in bytes. @default 1 MiB */
  readonly maxBytes?: number;
  /** Minimum time between the starts of two requests, in milliseconds. @default 0 */
  readonly intervalMs?: number;
  /** Maximum number of queued requests. @default 16 */
  readonly maxWaiting?: number;
  /** Time in milliseconds for which an answer is cached; 0: no cache. @default 0 */
  readonly cacheMs?: number;
  /** Maximum number of cached answers. @default 200 */
  readonly cacheEntries?: number;
  /**
   * Headers sent with every request to the origin of `url` and to no other, such as keys. Names in lower case. @default
   * none
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Environment variables with proxy settings. @default process.env */
  readonly environment?: ProxyEnvironment;
  /**
   * Returns the service's own reason for an error status, as the end of a sentence that begins with the service's name;
   * undefined if the body has none.
   */
  readonly reasonOf?: (body: unknown) => string | undefined;
  /** Clock for the rate limit. @default the system's */
  readonly clock?: PaceClock;
}

export type HttpQuery = Readonly<Record<string, string | number | boolean | undefined>>;

/** Client of one JSON service on the network. */
export interface HttpSource {
  /**
   * Resolves with the answer to `GET url/path?query`. Rejects with a `FailError`. The result may be cached, so do not
   * modify it.
   */
  getJson(path: string, query?: HttpQuery, signal?: AbortSignal): Promise<unknown>;
  /** Resolves with the answer to `POST url/path` with a JSON body, which is not cached. Rejects like `getJson`. */
  postJson(path: string, body: unknown, signal?: AbortSignal): Promise<unknown>;
  /** Closes all connections. */
  close(): Promise<void>;
}

const DEFAULTS = {
  timeoutMs: 10_000,
  maxBytes: 1024 * 1024,
  intervalMs: 0,
  maxWaiting: 16,
  cacheMs: 0,
  cacheEntries: 200,
};
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 300_000;

/**
 * Creates a client of a JSON service. The client identifies itself, respects the service's rate limit, limits time and
 * size, and caches answers. Nothing is loaded or opened before the first request. Throws an `OptionError` if the
 * address is invalid.
 *
 * @example
 * ```ts
 * import { createHttpSource } from "toolyard";
 *
 * const source = createHttpSource({
 *   service: "Example",
 *   url: "https://api.example",
 *   userAgent: "my-tool/1.0 (me@example.org)",
 *   intervalMs: 1000,
 *   cacheMs: 60_000,
 * });
 * const answer = await source.getJson("v1/things", { q: "otters" }, AbortSignal.timeout(5000));
 * console.log(answer);
 * await source.close();
 * ```
 */
export function createHttpSource(given: HttpSourceOptions): HttpSource {
  const options = { ...DEFAULTS, ...given };
  const { service, intervalMs, maxWaiting, environment = process.env } = options;
  const base = baseOf(options);
  const client = new OutboundClient({ userAgent: options.userAgent, environment });
  const pace = new Pace({ service, intervalMs, maxWaiting }, options.clock);
  const cache = new FreshCache<unknown>(options.cacheMs, options.cacheEntries);

  const ask = async (url: URL, deadline: Deadline, body?: string): Promise<unknown> => {
    await pace.turn(deadline.signal);
    const response = await client.request({
      service,
      url,
      headers: {
        accept: "application/json",
        ...options.headers,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { method: "POST", body }),
      signal: deadline.signal,
      timeoutMs: Math.max(1, Math.ceil(deadline.remainingMs)),
      maxBytes: options.maxBytes,
      reach: "origin",
    });
    if (response.status >= 200 && response.status < 300) return jsonOf(response, service);
    const failure = failureOf(response, options);
    if (failure.failure.kind === "limited")
      pace.pause(Math.min(Math.max(failure.failure.retryAfterMs ?? MIN_PAUSE_MS, MIN_PAUSE_MS), MAX_PAUSE_MS));
    throw failure;
  };

  const askInTime = async (url: URL, signal: AbortSignal | undefined, body?: string): Promise<unknown> => {
    const { timeoutMs } = options;
    const deadline = new Deadline({ idleMs: timeoutMs, totalMs: timeoutMs }, undefined, signal);
    try {
      return await ask(url, deadline, body);
    } catch (error) {
      // The request may end in the queue, because that time counts towards the caller's time limit.
      const isLate = deadline.signal.aborted || (error instanceof FailError && error.failure.kind === "timeout");
      throw isLate && !signal?.aborted ? outboundTimeout(service, timeoutMs) : error;
    } finally {
      deadline.clear();
    }
  };

  return {
    getJson: async (path, query = {}, signal) => {
      const url = urlOf(base, path, query);
      const known = cache.get(url.href);
      if (known !== undefined) return known;
      const value = await askInTime(url, signal);
      cache.set(url.href, value);
      return value;
    },
    postJson: (path, body, signal) => askInTime(urlOf(base, path, {}), signal, JSON.stringify(body)),
    close: () => client.close(),
  };
}

function baseOf({ service, url }: HttpSourceOptions): URL {
  const base = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (base?.protocol === "http:" || base?.protocol === "https:") return base;
  throw new OptionError(
    `The address of ${service} must begin with http:// or https://, got ${JSON.stringify(String(url))}.`,
  );
}

/** Returns the URL of a request. It includes the path and the query of the base URL, which may hold keys. */
function urlOf(base: URL, path: string, query: HttpQuery): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

const MAX_REASON_CHARS = 300;

function failureOf(response: OutboundResponse, { service, reasonOf }: HttpSourceOptions): FailError {
  const failure = statusFailure(service, response.status, retryAfterMs(response, Date.now()));
  const reason =
    response.status >= 400 && response.status < 500 && response.status !== 429
      ? reasonIn(response, service, reasonOf)
      : undefined;
  if (reason === undefined) return failure;
  const words = firstChars(reason.replaceAll(/\s+/g, " ").trim(), MAX_REASON_CHARS);
  return new FailError({
    ...failure.failure,
    message: `${service} does not accept the request (HTTP ${response.status}): ${words}`,
  });
}

function reasonIn(
  response: OutboundResponse,
  service: string,
  reasonOf: HttpSourceOptions["reasonOf"],
): string | undefined {
  try {
    return reasonOf?.(jsonOf(response, service));
  } catch {
    return undefined;
  }
}
