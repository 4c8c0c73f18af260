import { cancelledFailure } from "../core/calls/deadline.ts";
import { FailError } from "../core/errors.ts";
import { readBytes } from "./client/body.ts";
import { Connections } from "./client/connections.ts";
import {
  exchange,
  MAX_REDIRECTS,
  targetOf,
  type Redirect,
  type RequestRoute,
  type RequestSettings,
  type RequestStep,
} from "./client/exchange.ts";
import { retryAfterMs as readRetryAfter } from "./client/retry-after.ts";
import { lookupPublic, mayBePublic } from "./addresses.ts";
import { notPublic, outboundFailure, outboundTimeout, outboundTooLarge, toOutboundFailure } from "./failures.ts";
import { resolveProxy, type ProxyEnvironment } from "./proxy.ts";

export interface OutboundOptions {
  /** Value of `User-Agent`, sent with every request to identify the program. */
  readonly userAgent: string;
  /** URL of a proxy, or `none`. @default from the environment */
  readonly proxy?: string;
  /** Environment in which `HTTPS_PROXY` and similar variables are looked up. */
  readonly environment: ProxyEnvironment;
  /** PEM files of CAs that are trusted in addition to Node's own. @default none */
  readonly caFiles?: readonly string[];
  /**
   * Origin of every request, if there is only one. Without a proxy, such requests use the HTTP/1.1 client of this
   * package, which costs less than undici. @default any
   */
  readonly origin?: string;
}

export interface OutboundRequest {
  /** The service's name, for messages. */
  readonly service: string;
  readonly url: URL;
  readonly method?: "GET" | "POST" | "DELETE";
  /** Headers with names in lower case. They are sent to the URL's own origin and to no other. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Time limit for everything, from the first request to the last byte after redirects. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /**
   * `origin`: a configured address, which may be private; redirects stay on its host. `public`: an address from another
   * party; it and all redirects must be on the public internet.
   */
  readonly reach: "origin" | "public";
  /** False: redirects are not followed but returned as answers. @default true */
  readonly follows?: boolean;
}

export interface OutboundResponse {
  readonly status: number;
  /** Returns the value of a header. Expects names in lower case. */
  header(name: string): string | undefined;
  readonly body: Buffer;
}

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 16;
const KEPT_ALIVE_MS = 10_000;

/**
 * Sends requests to services on the network: http and https only, certificates verified, time and size limited. Rejects
 * with a `FailError`.
 */
export class OutboundClient {
  readonly #options: OutboundOptions;
  readonly #connections = new Map<string, Connections>();
  readonly #route: RequestRoute<OutboundSend>;
  /** Rules that follow no redirect. */
  readonly #direct: RequestRoute<OutboundSend>;
  #isClosed = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#route = this.#createRoute();
    this.#direct = { ...this.#route, redirects: new Set() };
  }

  /** Resolves with the complete answer, with any status. */
  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const { service, timeoutMs, signal: caller } = request;
    if (this.#isClosed)
      throw outboundFailure(
        "unavailable",
        { service, what: "gets no more requests: the client was closed." },
        { retryable: false },
      );
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = caller ? AbortSignal.any([caller, timeout]) : timeout;
    try {
      return await this.#readWhole({ request, signal, idleMs: timeoutMs });
    } catch (error) {
      if (caller?.aborted) throw cancelledFailure(caller.reason);
      if (timeout.aborted) throw outboundTimeout(service, timeoutMs);
      throw toOutboundFailure(error, service);
    }
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.allSettled(all.map((connections) => connections.close()));
  }

  async #readWhole(asked: OutboundSend): Promise<OutboundResponse> {
    const { url, method = "GET", body: sent, maxBytes, service } = asked.request;
    const { follows = true } = asked.request;
    const route = follows ? this.#route : this.#direct;
    const { status, header, body } = await exchange({ url, method, body: sent }, asked, route);
    const whole = await readBytes(body, maxBytes, {
      tooLarge: () => outboundTooLarge(service, maxBytes),
      broken: (error) => toOutboundFailure(error, service),
    });
    return { status, header, body: whole };
  }

  #createRoute(): RequestRoute<OutboundSend> {
    const { userAgent } = this.#options;
    return {
      redirects: REDIRECTS,
      connect: (url, { request }) => this.#connect(url, request),
      targetOf,
      headersFor: (url, { request }) => ({
        "user-agent": userAgent,
        "accept-encoding": "identity",
        ...(url.origin === request.url.origin ? request.headers : {}),
      }),
      follow: (redirect, { request }) => followed(redirect, request),
      toFailure: (error, { request }) => toOutboundFailure(error, request.service),
    };
  }

  #connect(url: URL, { reach, service }: OutboundRequest): ReturnType<Connections["open"]> {
    if (url.protocol !== "http:" && url.protocol !== "https:")
      throw outboundFailure("denied", {
        service,
        what: "refers to an address that is neither http nor https, so nothing was requested.",
      });
    if (reach === "public" && !mayBePublic(url)) throw notPublic(service);
    const proxy = resolveProxy(url, this.#options.proxy, this.#options.environment);
    // If a proxy resolves the host name, the address cannot be checked here, and the proxy's network must restrict it.
    const key = proxy === undefined ? reach : `${url.protocol} ${proxy}`;
    let connections = this.#connections.get(key);
    if (!connections) {
      const { caFiles, origin } = this.#options;
      const own = { ...(caFiles && { caFiles }), ...(origin !== undefined && { origin }) };
      connections = connectionsFor(reach, { proxy, isTunnel: url.protocol === "https:", ...own });
      this.#connections.set(key, connections);
    }
    return connections.open();
  }
}

interface OutboundSend extends RequestSettings {
  readonly request: OutboundRequest;
}

interface Way {
  readonly proxy: string | undefined;
  readonly isTunnel: boolean;
  readonly caFiles?: readonly string[];
  readonly origin?: string;
}

function connectionsFor(reach: OutboundRequest["reach"], { proxy, ...way }: Way): Connections {
  return new Connections({
    ...way,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxConnections: MAX_CONNECTIONS,
    keepAliveMs: KEPT_ALIVE_MS,
    ...(proxy !== undefined && { proxy }),
    ...(reach === "public" && { lookup: lookupPublic }),
  });
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Returns the request after a redirect. Like in browsers, only 307 and 308 repeat a POST. */
function followed(
  { from, status, location, followed: before }: Redirect,
  { service, reach }: OutboundRequest,
): RequestStep {
  const final = { retryable: false };
  const tooMany = `redirects more than ${MAX_REDIRECTS} times. Check its address.`;
  if (before === MAX_REDIRECTS) throw outboundFailure("unavailable", { service, what: tooMany }, final);
  const url = URL.canParse(location, from.url.href) ? new URL(location, from.url) : undefined;
  if (!url) throw outboundFailure("malformed", { service, what: "redirects to an address that cannot be used." });
  const staysHere = url.origin === from.url.origin || (url.host === from.url.host && url.protocol === "https:");
  if (reach === "origin" && !staysHere) {
    throw outboundFailure(
      "unavailable",
      {
        service,
        what:
          "redirects to another host, so the redirect was not followed. If that host is the right one, set " +
          "its address.",
      },
      final,
    );
  }
  return status === 307 || status === 308 ? { ...from, url } : { url, method: "GET", body: undefined };
}

/** Returns the wait that the response requests with `Retry-After`, in milliseconds; undefined if it requests none. */
export function retryAfterMs(response: OutboundResponse, now: number): number | undefined {
  return readRetryAfter(response.header("retry-after"), now);
}

/** Parses an answer as JSON. Throws a `malformed` failure with the service's name. */
export function jsonOf(response: OutboundResponse, service: string): unknown {
  try {
    return JSON.parse(response.body.toString("utf8"));
  } catch (error) {
    throw error instanceof FailError
      ? error
      : outboundFailure(
          "malformed",
          { service, what: "sent an answer that is not JSON. Check its address." },
          {
            cause: error,
          },
        );
  }
}
