import type { Readable } from "node:stream";
import type { Agent, Dispatcher, ProxyAgent } from "undici";
import { cancelledFailure } from "../core/deadline.ts";
import { FailError } from "../core/errors.ts";
import { lookupPublic, mayBePublic } from "./addresses.ts";
import { notPublic, outboundFailure, outboundTimeout, outboundTooLarge, toOutboundFailure } from "./failures.ts";
import { resolveProxy, type ProxyEnvironment } from "./proxy.ts";

export interface OutboundOptions {
  /** Says who asks, with every request. */
  readonly userAgent: string;
  /** URL of a proxy, or `none`. @default as the environment says */
  readonly proxy?: string;
  /** Where `HTTPS_PROXY` and its like are looked up. */
  readonly environment: ProxyEnvironment;
}

export interface OutboundRequest {
  /** The service's name, for messages. */
  readonly service: string;
  readonly url: URL;
  readonly method?: "GET" | "POST";
  /** Names in lower case. They go to the URL's own origin and to no other. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Bound of everything, redirects and the last byte included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /**
   * `origin`: a configured address, which may be a private one; a redirect stays on its host. `public`: an address that
   * somebody else named: it, and wherever it redirects to, must be on the public internet.
   */
  readonly reach: "origin" | "public";
}

export interface OutboundResponse {
  readonly status: number;
  /** Takes names in lower case. */
  header(name: string): string | undefined;
  readonly body: Buffer;
}

const MAX_REDIRECTS = 3;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 16;
const KEPT_ALIVE_MS = 10_000;

/**
 * Asks services on the network: http and https only, certificates verified, everything bounded. Rejects with a
 * `FailError`.
 */
export class OutboundClient {
  readonly #options: OutboundOptions;
  readonly #dispatchers = new Map<string, Promise<Agent | ProxyAgent>>();
  #isClosed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
  }

  /** Resolves with the whole answer, whatever its status. */
  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const { service, timeoutMs, signal: caller } = request;
    if (this.#isClosed)
      throw outboundFailure("unavailable", service, "is not asked any more: this was closed.", { retryable: false });
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = caller ? AbortSignal.any([caller, timeout]) : timeout;
    try {
      signal.throwIfAborted();
      return await this.#requestFollowing(request, signal);
    } catch (error) {
      if (caller?.aborted) throw cancelledFailure(caller.reason);
      if (timeout.aborted) throw outboundTimeout(service, timeoutMs);
      throw toOutboundFailure(error, service);
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = await Promise.allSettled(this.#dispatchers.values());
    this.#dispatchers.clear();
    await Promise.allSettled(all.map(async (one) => one.status === "fulfilled" && (await one.value.destroy())));
  }

  async #requestFollowing(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    let step: Step = { url: request.url, method: request.method ?? "GET", body: request.body };
    for (let followed = 0; ; followed += 1) {
      const { statusCode: status, headers, body } = await this.#send(step, request, signal);
      const location = REDIRECTS.has(status) ? headerOf(headers, "location") : undefined;
      if (location === undefined)
        return { status, header: (name) => headerOf(headers, name), body: await readBody(body, request) };
      body.on("error", () => {}).destroy();
      if (followed === MAX_REDIRECTS)
        throw outboundFailure(
          "unavailable",
          request.service,
          `redirects more than ${MAX_REDIRECTS} times. Check its address.`,
          { retryable: false },
        );
      step = redirected(step, status, location, request);
    }
  }

  async #send(step: Step, request: OutboundRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { url, method, body } = step;
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw outboundFailure(
        "denied",
        request.service,
        "names an address that is neither http nor https, and was not asked for it.",
      );
    if (request.reach === "public" && !mayBePublic(url)) throw notPublic(request.service);
    const own = url.origin === request.url.origin ? request.headers : {};
    const dispatcher = await this.#dispatcherFor(url, request.reach);
    return dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { "user-agent": this.#options.userAgent, "accept-encoding": "identity", ...own },
      ...(body === undefined ? {} : { body }),
      signal,
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    });
  }

  #dispatcherFor(url: URL, reach: OutboundRequest["reach"]): Promise<Agent | ProxyAgent> {
    const proxy = resolveProxy(url, this.#options.proxy, this.#options.environment);
    // What a proxy resolves cannot be looked at here; it is the network's own guard then.
    const key = proxy === undefined ? reach : `${url.protocol} ${proxy}`;
    let dispatcher = this.#dispatchers.get(key);
    if (!dispatcher) {
      dispatcher = createDispatcher(reach, proxy, url.protocol === "https:");
      this.#dispatchers.set(key, dispatcher);
    }
    return dispatcher;
  }
}

interface Step {
  readonly url: URL;
  readonly method: "GET" | "POST";
  readonly body: string | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** As browsers do it: only 307 and 308 repeat a POST. */
function redirected(
  { url: from, method, body }: Step,
  status: number,
  location: string,
  { service, reach }: OutboundRequest,
): Step {
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (!url) throw outboundFailure("malformed", service, "redirects to an address that cannot be used.");
  const staysHere = url.origin === from.origin || (url.host === from.host && url.protocol === "https:");
  if (reach === "origin" && !staysHere) {
    throw outboundFailure(
      "unavailable",
      service,
      "redirects to another host, which was not asked. Set its address to that one if it is the one you mean.",
      { retryable: false },
    );
  }
  return status === 307 || status === 308 ? { url, method, body } : { url, method: "GET", body: undefined };
}

// Loaded with the first request: it costs 70 ms and 18 MB.
async function createDispatcher(
  reach: OutboundRequest["reach"],
  proxy: string | undefined,
  isTls: boolean,
): Promise<Agent | ProxyAgent> {
  const { Agent, ProxyAgent } = await import("undici");
  const shared = { connections: MAX_CONNECTIONS, keepAliveTimeout: KEPT_ALIVE_MS };
  const connect = { timeout: CONNECT_TIMEOUT_MS, ...(reach === "public" ? { lookup: lookupPublic } : {}) };
  if (proxy === undefined) return new Agent({ ...shared, connect });
  const timeout = { timeout: CONNECT_TIMEOUT_MS };
  return new ProxyAgent({ ...shared, uri: proxy, proxyTunnel: isTls, requestTls: timeout, proxyTls: timeout });
}

async function readBody(body: Readable, { service, maxBytes }: OutboundRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop destroys the body, and its connection with it.
    if (length > maxBytes) throw outboundTooLarge(service, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function headerOf(headers: Dispatcher.ResponseData["headers"], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** `Retry-After` in milliseconds, seconds or a date; nothing when it says neither. */
export function retryAfterMs(response: OutboundResponse, now: number): number | undefined {
  const value = response.header("retry-after");
  if (value === undefined) return undefined;
  const ms = /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Parses an answer as JSON. Throws `malformed` with the service's name. */
export function jsonOf(response: OutboundResponse, service: string): unknown {
  try {
    return JSON.parse(response.body.toString("utf8"));
  } catch (error) {
    throw error instanceof FailError
      ? error
      : outboundFailure("malformed", service, "answered something that is not JSON. Check its address.", {
          cause: error,
        });
  }
}
