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
  /** Gives what changes with time of the headers; absent: none is needed beyond `headers`. */
  readonly credentials?: ChangingCredentials;
  /** Advice for users when the server denies access, for messages. @default to configure credentials */
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
  /** How often this request was sent again already. */
  readonly attempt: number;
}

/** Credentials that change with time. */
export interface ChangingCredentials {
  /**
   * Returns the headers without a promise if none has to be fetched. Rejects with a `FailError`, or with the signal's
   * reason.
   */
  headersFor(sent: SentRequest, signal: Cancellation): HeaderFields | Promise<HeaderFields>;
  /**
   * Called when the request was refused without being executed. Resolves with true if there are new headers, and the
   * request is sent again. Rejects with a `FailError` that is more specific than the refusal.
   */
  refused(refusal: ServerRefusal, signal: Cancellation): Promise<boolean>;
  /** Called with the headers of each response. */
  answered?(header: (name: string) => string | undefined): void;
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Another place on the same server. @default the client's own URL */
  readonly url?: URL;
  /** Names in lower case. They win over the client's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: Cancellation;
  /** Bound of silence, before the headers and between two chunks; 0 for none. */
  readonly idleMs: number;
  /** Caller with the share of the connections that it uses. @default the hub's own */
  readonly caller?: Caller | undefined;
  /** The server answers immediately; the request may exceed the connection limit. @default false */
  readonly isMessage?: boolean | undefined;
}

type HeaderFields = Readonly<Record<string, string>>;

/** How often a request is sent again that was refused. */
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
  /** The part of the URL that may be shown. */
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
   * Resolves with the headers' arrival. Rejects with a `FailError`; `details.sent` is `false` where no byte went out.
   */
  request(request: OutgoingRequest): Promise<HttpResponse> {
    const { credentials } = this.#options;
    return credentials ? this.#admitted(request, credentials) : this.#request(request, NO_CREDENTIALS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connections.close();
  }

  /** Asks again with other credentials, as long as there are some. */
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

  /** Returns the credentials without a promise if they are known already. */
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
      `redirects to ${where}, which is another server and was not asked. ` +
      "Set `url` to it if it is the one you mean.";
    throw httpFailure("unavailable", { place: this.place, what }, extras);
  }
}

type Join = (credentials: HeaderFields, headers: HeaderFields) => HeaderFields;

/** Puts the headers of a request over those that are configured. The same object as before for the same two. */
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

/** The later ones win. Assigned one by one: spreading several objects into one takes V8's slow way. */
function joined(...all: readonly HeaderFields[]): HeaderFields {
  const headers: Record<string, string> = { "user-agent": "toolyard" };
  for (const some of all) for (const name in some) headers[name] = some[name]!;
  return headers;
}
