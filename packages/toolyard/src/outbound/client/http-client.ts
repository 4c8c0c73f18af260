import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import { discard } from "./body.ts";
import { Connections } from "./connections.ts";
import {
  exchange,
  MAX_REDIRECTS,
  targetOf,
  type Redirect,
  type RequestRoute,
  type RequestSettings,
  type RequestStep,
} from "./exchange.ts";
import type { HttpResponse } from "./sender.ts";
import { httpFailure, shownUrl, toRequestFailure, UNSENT, type FailurePlace } from "./server-failures.ts";

export interface HttpClientOptions {
  /** Id of the source, for messages. */
  readonly label: string;
  readonly url: URL;
  /** Headers sent with every request to this server and to no other, including credentials. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** Maximum number of connections; a request above it waits for one. Every open stream occupies one. */
  readonly maxConnections: number;
  /** PEM files of CAs that are trusted in addition to those that Node trusts. They are read with the first request. */
  readonly caFiles: readonly string[];
  /** URL of a proxy; absent: none. */
  readonly proxy?: string;
  /** Supplies headers that change over time. Absent: only `headers` are sent. */
  readonly credentials?: ChangingCredentials;
  /** Advice for users if the server denies access. @default to configure credentials */
  readonly remedy?: string;
}

/** An outgoing request. */
export interface SentRequest {
  readonly method: string;
  readonly url: URL;
}

/** A server's refusal. `header` expects names in lower case. */
export interface ServerRefusal {
  readonly status: 401 | 403;
  header(name: string): string | undefined;
  /** The result of `headersFor` for this request. */
  readonly sent: HeaderFields;
  /** Number of times that this request was already repeated. */
  readonly attempt: number;
}

/** Credentials that change with time, such as access tokens. */
export interface ChangingCredentials {
  /**
   * Returns the headers for a request: synchronously if no token must be fetched, otherwise as a promise. Rejects with
   * a `FailError`, or with the signal's reason.
   */
  headersFor(sent: SentRequest, signal: Cancellation): HeaderFields | Promise<HeaderFields>;
  /**
   * Called if the server refused the request without executing it. Resolves with true if there are new headers, so that
   * the request is sent again. Rejects with a `FailError` if the cause of the refusal is known.
   */
  refused(refusal: ServerRefusal, signal: Cancellation): Promise<boolean>;
  /** Called with the headers of each response. */
  answered?(header: (name: string) => string | undefined): void;
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Another URL on the same server. @default the client's own URL */
  readonly url?: URL;
  /** Headers with names in lower case. They override the client's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: Cancellation;
  /** Maximum inactivity in milliseconds, before the headers and between two chunks; 0: no limit. */
  readonly idleMs: number;
  /** Caller whose share of the connections is used. @default the hub's own share */
  readonly caller?: Caller | undefined;
  /** True: the server answers immediately, so the request may use a connection above the limit. @default false */
  readonly isMessage?: boolean | undefined;
}

type HeaderFields = Readonly<Record<string, string>>;

/** Maximum number of times that a refused request is sent. */
const MAX_ATTEMPTS = 3;

interface RefusedRequest {
  readonly refusal: ServerRefusal;
  readonly response: HttpResponse;
  readonly request: OutgoingRequest;
}

interface ClientRequest extends RequestSettings {
  readonly headers: HeaderFields;
  readonly credentials: HeaderFields;
}

const NO_CREDENTIALS: HeaderFields = Object.freeze({});
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * Connection pool of one server. TLS certificates are always verified. Redirects are followed within the origin only,
 * with the same method and body, so that credentials and arguments reach only the configured server, and no server can
 * direct requests into the local network.
 */
export class HttpClient {
  readonly place: FailurePlace;
  /** URL without the parts that may contain keys, for messages. */
  readonly endpoint: string;
  readonly url: URL;
  readonly #options: HttpClientOptions;
  readonly #route: RequestRoute<ClientRequest>;
  readonly #connections: Connections;
  #isClosed = false;

  constructor(options: HttpClientOptions) {
    const { url, label, proxy, caFiles, connectTimeoutMs, maxConnections } = options;
    this.#options = options;
    this.url = url;
    const { remedy } = options;
    this.place = { label, host: url.host, ...(remedy !== undefined && { remedy }) };
    this.endpoint = shownUrl(url);
    this.#connections = new Connections({
      origin: url.origin,
      ...(proxy !== undefined && { proxy }),
      isTunnel: url.protocol === "https:",
      connectTimeoutMs,
      maxConnections,
      caFiles,
      onUntrusted: (error) => this.#untrusted(error),
    });
    this.#route = this.#createRoute();
  }

  /**
   * Sends a request. Resolves when the headers arrive. Rejects with a `FailError`; `details.sent` is `false` if no byte
   * was sent.
   */
  request(request: OutgoingRequest): Promise<HttpResponse> {
    const { credentials } = this.#options;
    return credentials ? this.#admitted(request, credentials) : this.#request(request, NO_CREDENTIALS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connections.close();
  }

  /** Repeats a refused request as long as there are new credentials. */
  async #admitted(request: OutgoingRequest, credentials: ChangingCredentials): Promise<HttpResponse> {
    for (let attempt = 0; ; attempt += 1) {
      const known = this.#credentialsFor(credentials, request);
      const sent = known instanceof Promise ? await known : known;
      const response = await this.#request(request, sent);
      const { status, header } = response;
      credentials.answered?.(header);
      if ((status !== 401 && status !== 403) || attempt === MAX_ATTEMPTS) return response;
      const refusal: ServerRefusal = { status, header, sent, attempt };
      if (!(await this.#hasOthers(credentials, { refusal, response, request }))) return response;
    }
  }

  /** Returns the credentials: synchronously if they are already known, otherwise as a promise. */
  #credentialsFor(
    credentials: ChangingCredentials,
    { method, url = this.url, signal }: OutgoingRequest,
  ): HeaderFields | Promise<HeaderFields> {
    const failed = (error: unknown): never => {
      throw toRequestFailure(error, this.place, signal);
    };
    try {
      const known = credentials.headersFor({ method, url }, signal);
      return known instanceof Promise ? known.catch(failed) : known;
    } catch (error) {
      return failed(error);
    }
  }

  async #hasOthers(
    credentials: ChangingCredentials,
    { refusal, response, request: { signal } }: RefusedRequest,
  ): Promise<boolean> {
    try {
      const hasOthers = await credentials.refused(refusal, signal);
      if (hasOthers) discard(response.body);
      return hasOthers;
    } catch (error) {
      discard(response.body);
      throw toRequestFailure(error, this.place, signal);
    }
  }

  #request(request: OutgoingRequest, credentials: HeaderFields): Promise<HttpResponse> {
    const { url = this.url, method, body, headers, signal, idleMs, caller, isMessage } = request;
    return exchange({ url, method, body }, { headers, credentials, signal, idleMs, caller, isMessage }, this.#route);
  }

  #createRoute(): RequestRoute<ClientRequest> {
    const { place, url: own } = this;
    const target = targetOf(own);
    const headersFor = headersOver(this.#options.headers);
    return {
      redirects: REDIRECTS,
      connect: () => this.#connect(),
      targetOf: (url) => (url === own ? target : targetOf(url)),
      headersFor: (_url, { credentials, headers }) => headersFor(credentials, headers),
      follow: (redirect) => this.#follow(redirect),
      toFailure: (error, { signal }) => toRequestFailure(error, place, signal),
    };
  }

  #connect(): ReturnType<Connections["open"]> {
    if (this.#isClosed)
      throw httpFailure("unavailable", { place: this.place, what: "was closed." }, { details: UNSENT });
    return this.#connections.open();
  }

  #untrusted(cause: unknown): Error {
    return httpFailure(
      "unavailable",
      { place: this.place, what: "cannot be verified: its `ca` file cannot be read." },
      {
        details: UNSENT,
        retryable: false,
        cause,
      },
    );
  }

  #follow({ from: step, location, followed }: Redirect): RequestStep {
    const from = step.url;
    const extras = { details: UNSENT, retryable: false };
    const tooMany = `redirects more than ${MAX_REDIRECTS} times. Correct \`url\`.`;
    if (followed === MAX_REDIRECTS) throw httpFailure("unavailable", { place: this.place, what: tooMany }, extras);
    const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    if (url?.origin === from.origin) return { ...step, url };
    const where = url && /^https?:$/.test(url.protocol) ? shownUrl(url) : "an address that cannot be used";
    const what =
      `redirects to ${where}, which is another server, so the redirect was not followed. If that server ` +
      "is the right one, set `url` to its address.";
    throw httpFailure("unavailable", { place: this.place, what }, extras);
  }
}

type Join = (credentials: HeaderFields, headers: HeaderFields) => HeaderFields;

/**
 * Returns a function that adds the headers of a request to the configured ones. If both arguments are the same objects
 * as in the previous call, it returns the previous result.
 */
function headersOver(configured: HeaderFields): Join {
  let last:
    | { readonly credentials: HeaderFields; readonly headers: HeaderFields; readonly joined: HeaderFields }
    | undefined;
  return (credentials, headers) => {
    if (last?.credentials === credentials && last.headers === headers) return last.joined;
    last = { credentials, headers, joined: joined(configured, credentials, headers) };
    return last.joined;
  };
}

/**
 * Joins headers; later ones override earlier ones. They are assigned one by one, because spreading several objects into
 * one is slow in V8.
 */
function joined(...all: readonly HeaderFields[]): HeaderFields {
  const headers: Record<string, string> = { "user-agent": "toolyard" };
  for (const some of all) for (const name in some) headers[name] = some[name]!;
  return headers;
}
