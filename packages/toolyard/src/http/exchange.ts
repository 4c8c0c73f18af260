import { LOCAL_PRINCIPAL, type Principal } from "../core/calls/call.ts";
import { rightsWithin } from "../core/ports/rights.ts";
import type { Authenticator } from "../core/ports/authenticator.ts";
import type { HttpAnswer, ScopesOwner } from "./answer/answer.ts";
import type { ArrivingBytes, BodyBudget, ReleaseBytes } from "./request/body-budget.ts";
import { EventStream, type StreamLimits } from "./answer/event-stream.ts";
import { parseJsonBody, type JsonBody } from "./request/json-body.ts";
import type { JsonLimits } from "../wire/parse-json.ts";
import type { BodyAccounts, HttpRequest, RequestHeaders } from "./wire.ts";

/** A received request, and its answer. */
export interface Arrival {
  readonly request: HttpRequest;
  readonly answer: HttpAnswer;
}

/** The facts of a request after the checks. */
export interface ExchangeFacts {
  readonly principal: Principal;
  /** Address of the caller; behind a trusted proxy, the address that the proxy reports. */
  readonly remoteAddress: string;
  /** `http://host:port/base`, or with `https`, as the caller addresses it, without a trailing slash. */
  readonly baseUrl: string;
  /** Below the base path, with a leading slash, as it was sent. */
  readonly path: string;
  /** Text after the question mark. */
  readonly search: string;
  /** Path of the endpoint, as it was mounted. */
  readonly mount: string;
}

/** The principal of requests on paths that need no sign-in. */
export const NOBODY: Principal = Object.freeze({ id: "nobody", rights: rightsWithin({ allow: [] }), remote: true });

export interface ExchangeLimits extends StreamLimits, JsonLimits {
  readonly maxBodyBytes: number;
}

/** Common parts of all exchanges of a listener. */
export interface ExchangePlace {
  readonly limits: ExchangeLimits;
  /** Aborted when the listener starts to close. */
  readonly closing: AbortSignal;
  /** Limit of bodies that are still arriving. */
  readonly bodies: BodyBudget;
  readonly authenticator: Pick<Authenticator, "challengeScopes">;
}

/**
 * One request and its answer for endpoints: checked, with its caller known. Independent of the carrier; the adapters
 * (`node/`, `fetch/`, `workers/`) handle that.
 */
export class HttpExchange implements BodyAccounts, ScopesOwner {
  readonly answer: HttpAnswer;
  readonly #request: HttpRequest;
  readonly #facts: ExchangeFacts;
  readonly #place: ExchangePlace;
  #query: URLSearchParams | undefined;

  constructor({ request, answer }: Arrival, facts: ExchangeFacts, place: ExchangePlace) {
    this.#request = request;
    this.answer = answer;
    this.#facts = facts;
    this.#place = place;
    answer.scopesOwner = this;
  }

  get method(): string {
    return this.#request.method;
  }

  get headers(): RequestHeaders {
    return this.#request.headers;
  }

  get principal(): Principal {
    return this.#facts.principal;
  }

  get remoteAddress(): string {
    return this.#facts.remoteAddress;
  }

  /** `http://host:port/base`, or with `https`, as the caller addresses it, without a trailing slash. */
  get baseUrl(): string {
    return this.#facts.baseUrl;
  }

  /** Address of the MCP endpoint, of the profile that the request came by. */
  get mcpUrl(): string {
    const { baseUrl, principal } = this.#facts;
    return principal.profile ? baseUrl : `${baseUrl}/mcp`;
  }

  /** Below the base path, with a leading slash, as it was sent. */
  get path(): string {
    return this.#facts.path;
  }

  /** Text after the question mark, as it was sent. */
  get search(): string {
    return this.#facts.search;
  }

  /** Path of the endpoint below the base path, as clients know it. */
  get mount(): string {
    return this.#facts.mount;
  }

  get query(): URLSearchParams {
    const { search } = this.#facts;
    this.#query ??= search === "" ? NO_QUERY : new URLSearchParams(search);
    return this.#query;
  }

  /** Aborted when the listener starts to close: streams should end. */
  get closing(): AbortSignal {
    return this.#place.closing;
  }

  /** The challenge for an operation that needs these scopes; absent where callers have none. */
  challengeScopes(scopes: readonly string[]): string | undefined {
    return this.#place.authenticator.challengeScopes?.(scopes, this.#facts.mount);
  }

  /** Returns one header by its name in lower case. */
  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  /**
   * Returns the whole body, up to `maxBytes` (default: the listener's limit), or a promise while it is still arriving.
   * Throws or rejects with a `Refusal`. Must be called at most once.
   */
  readBody(maxBytes = this.#place.limits.maxBodyBytes): Buffer | Promise<Buffer> {
    return this.#request.readBody(maxBytes, this);
  }

  /** Counts a body that is still arriving: under the principal, or without a token under the client's address. */
  openBody(release: ReleaseBytes): ArrivingBytes {
    const { principal, remoteAddress } = this.#facts;
    const holder = isNamed(principal) ? `principal ${principal.id}` : `address ${remoteAddress}`;
    return this.#place.bodies.open(holder, release);
  }

  /** Parses a body as JSON within the listener's limits. */
  parseJson(body: Buffer): JsonBody {
    return parseJsonBody(body, this.#place.limits);
  }

  /**
   * Begins a stream that may outlive the caller's access token: it ends when the token does. Answers to one request may
   * take longer, since the token was valid when the request came.
   */
  openLastingStream(headers?: Readonly<Record<string, string>>): EventStream {
    const stream = this.openStream(headers);
    this.endWithToken(() => stream.end());
    return stream;
  }

  /** Calls `end` when the caller's access token expires, unless the answer is over by then. */
  endWithToken(end: () => void): void {
    const { expiresAt } = this.principal.identity ?? {};
    if (expiresAt === undefined) return;
    const timer = setTimeout(end, Math.min(Math.max(0, expiresAt - Date.now()), MAX_TIMER_MS)).unref();
    this.answer.onClosed(() => clearTimeout(timer));
  }

  /** Starts a stream of server-sent events as the answer. */
  openStream(headers?: Readonly<Record<string, string>>): EventStream {
    return new EventStream(this.answer, this.#place.limits, headers);
  }
}

/** Node fires timers that are longer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A client without a token is `local`, or on an open path `nobody`, which many clients share. */
function isNamed({ id }: Principal): boolean {
  return id !== LOCAL_PRINCIPAL.id && id !== NOBODY.id;
}

/** Read only. */
const NO_QUERY = new URLSearchParams();
