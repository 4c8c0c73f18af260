import type { Cancellation } from "../../core/cancellation.ts";
import { readFile } from "node:fs/promises";
import type { Pool, ProxyAgent } from "undici";
import { MAX_TIMER_MS } from "../../core/deadline.ts";
import { within } from "../../core/wait.ts";
import { discard } from "./body.ts";
import { dispatch, type RawResponse } from "./dispatch.ts";
import { httpFailure, shownUrl, toRequestFailure, type Place } from "./failures.ts";
import type { ResponseBody } from "./response-body.ts";

export interface HttpClientOptions {
  /** Id of the source, for messages. */
  readonly label: string;
  readonly url: URL;
  /**
   * Sent with every request to this server and to no other: credentials and what else is configured. Names in lower
   * case.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** Bound of connections; a request beyond it waits for one. Every open stream takes one. */
  readonly maxConnections: number;
  /**
   * PEM files of CAs that are trusted besides those that Node trusts by itself. They are read with the first request.
   */
  readonly caFiles: readonly string[];
  /** URL of a proxy; absent: none. */
  readonly proxy?: string;
  /** Gives the bearer token of each request; absent: none is needed beyond `headers`. */
  readonly tokens?: Tokens;
}

/** Access tokens that change with time. */
export interface Tokens {
  /** The present token. Rejects with a `FailError`, or with the signal's reason. */
  token(signal: Cancellation): Promise<string>;
  /** The server does not accept this one: it is not given again. */
  drop(token: string): void;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Another place on the same server. @default the client's own URL */
  readonly url?: URL;
  /** Names in lower case. They win over the client's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: Cancellation;
  /** Bound of silence, before the headers and between two chunks; 0 for none. */
  readonly idleMs: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Takes names in lower case. */
  header(name: string): string | undefined;
  /** Whoever gets the response reads it to its end, discards or destroys it. */
  readonly body: ResponseBody;
}

const NO_CREDENTIALS: Readonly<Record<string, string>> = Object.freeze({});
const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 307, 308];
const CLOSE_TIMEOUT_MS = 1000;

/**
 * One server's pool of connections. TLS is always verified. A redirect is followed within the origin only, with its
 * method and body: neither credentials nor arguments go to a place that nobody configured, and no server can point us
 * into the local network.
 */
export class HttpClient {
  readonly place: Place;
  /** What may be shown of the URL. */
  readonly endpoint: string;
  readonly url: URL;
  readonly #options: HttpClientOptions;
  readonly #origin: string;
  readonly #path: string;
  #dispatcher: Promise<Pool | ProxyAgent> | undefined;
  #isClosed = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.url = options.url;
    this.place = { label: options.label, host: options.url.host };
    this.endpoint = shownUrl(options.url);
    this.#origin = options.url.origin;
    this.#path = pathOf(options.url);
  }

  /**
   * Resolves with the headers' arrival. Rejects with a `FailError`; `details.sent` is `false` where no byte went out.
   */
  async request(request: HttpRequest): Promise<HttpResponse> {
    const { tokens } = this.#options;
    if (!tokens) return this.#requestFollowing(request, NO_CREDENTIALS);
    const token = await this.#tokenOf(tokens, request);
    const response = await this.#requestFollowing(request, bearer(token));
    if (response.status !== 401) return response;
    // It was not executed, so it can be sent again; a second 401 is not about the token's age.
    discard(response.body);
    tokens.drop(token);
    return this.#requestFollowing(request, bearer(await this.#tokenOf(tokens, request)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const dispatcher = await this.#dispatcher?.catch(() => undefined);
    if (!dispatcher) return;
    await within(dispatcher.destroy(), CLOSE_TIMEOUT_MS);
  }

  async #tokenOf(tokens: Tokens, { signal }: HttpRequest): Promise<string> {
    try {
      return await tokens.token(signal);
    } catch (error) {
      throw toRequestFailure(error, this.place, signal);
    }
  }

  async #requestFollowing(request: HttpRequest, credentials: Readonly<Record<string, string>>): Promise<HttpResponse> {
    let url = request.url ?? this.url;
    for (let followed = 0; ; followed += 1) {
      const response = await this.#requestOnce(url, request, credentials);
      const location = REDIRECTS.includes(response.status) ? response.header("location") : undefined;
      if (location === undefined) return response;
      discard(response.body);
      url = this.#redirectTarget(url, location, followed);
    }
  }

  async #requestOnce(
    url: URL,
    request: HttpRequest,
    credentials: Readonly<Record<string, string>>,
  ): Promise<HttpResponse> {
    const { method, signal, body, idleMs } = request;
    try {
      signal.throwIfAborted();
      const dispatcher = await this.#connect();
      const isOwn = url === this.url;
      const options = {
        origin: isOwn ? this.#origin : url.origin,
        path: isOwn ? this.#path : pathOf(url),
        method,
        headers: joined(this.#options.headers, credentials, request.headers),
        body: body ?? null,
        headersTimeout: Math.min(idleMs, MAX_TIMER_MS),
        bodyTimeout: Math.min(idleMs, MAX_TIMER_MS),
      };
      return toResponse(await dispatch(dispatcher, options, signal));
    } catch (error) {
      throw toRequestFailure(error, this.place, signal);
    }
  }

  // One that could not be made is tried again with the next request: the CA file may be there by then.
  #connect(): Promise<Pool | ProxyAgent> {
    if (this.#isClosed) throw httpFailure("unavailable", this.place, "was closed.", { details: { sent: false } });
    this.#dispatcher ??= this.#createDispatcher().catch((error: unknown) => {
      this.#dispatcher = undefined;
      throw error;
    });
    return this.#dispatcher;
  }

  // Loaded with the first request: it costs 70 ms and 18 MB, and a hub without HTTP servers never needs it.
  async #createDispatcher(): Promise<Pool | ProxyAgent> {
    const { url, proxy, caFiles, connectTimeoutMs, maxConnections } = this.#options;
    const ca = caFiles.length === 0 ? undefined : await this.#readTrusted(caFiles);
    const { Pool, ProxyAgent } = await import("undici");
    const connect = { timeout: connectTimeoutMs, ...(ca && { ca }) };
    if (proxy === undefined) return new Pool(url.origin, { connections: maxConnections, connect });
    return new ProxyAgent({
      uri: proxy,
      connections: maxConnections,
      proxyTunnel: url.protocol === "https:",
      requestTls: connect,
      proxyTls: connect,
    });
  }

  // Naming a CA replaces Node's own list, so that list is repeated.
  async #readTrusted(files: readonly string[]): Promise<string[]> {
    const { rootCertificates } = await import("node:tls");
    try {
      return [...rootCertificates, ...(await Promise.all(files.map((file) => readFile(file, "utf8"))))];
    } catch (error) {
      throw httpFailure("unavailable", this.place, "cannot be verified: its `ca` file cannot be read.", {
        details: { sent: false },
        retryable: false,
        cause: error,
      });
    }
  }

  #redirectTarget(from: URL, location: string, followed: number): URL {
    const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    const extras = { details: { sent: false }, retryable: false };
    if (followed === MAX_REDIRECTS)
      throw httpFailure(
        "unavailable",
        this.place,
        `redirects more than ${MAX_REDIRECTS} times. Correct \`url\`.`,
        extras,
      );
    if (target !== undefined && target.origin === from.origin) return target;
    const where = target && /^https?:$/.test(target.protocol) ? shownUrl(target) : "an address that cannot be used";
    const what =
      `redirects to ${where}, which is another server and was not asked. ` +
      "Set `url` to it if it is the one you mean.";
    throw httpFailure("unavailable", this.place, what, extras);
  }
}

function pathOf({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}

/** The later ones win. Assigned one by one: spreading several objects into one takes V8's slow way. */
function joined(...all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const headers: Record<string, string> = { "user-agent": "toolyard" };
  for (const some of all) for (const name in some) headers[name] = some[name]!;
  return headers;
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function toResponse({ status, headers, body }: RawResponse): HttpResponse {
  return {
    status,
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    body,
  };
}
