import { isUtf8 } from "node:buffer";
import type { Span } from "../core/ports/tracing.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../core/calls/call.ts";
import { rightsWithin } from "../core/ports/rights.ts";
import type { Authenticator } from "../core/ports/authenticator.ts";
import type { HttpAnswer, ScopesOwner } from "./answer/answer.ts";
import type { ArrivingBytes, BodyBudget, ReleaseBytes } from "./request/body-budget.ts";
import { EventStream, type StreamLimits } from "./answer/event-stream.ts";
import { readJson, type JsonLimits, type ReadJson } from "../wire/parse-json.ts";
import type { BodyAccounts, HttpRequest, RequestHeaders } from "./wire.ts";

/** Received request, and its answer. */
export interface Arrival {
  readonly request: HttpRequest;
  readonly answer: HttpAnswer;
}

/** Facts about a request that has passed the checks. */
export interface ExchangeFacts {
  readonly principal: Principal;
  /** Address of the caller. Behind a trusted proxy, the address that the proxy reports. */
  readonly remoteAddress: string;
  /** `http://host:port/base`, or with `https`, as the caller addresses the hub, without a trailing slash. */
  readonly baseUrl: string;
  /** Path below the base path, with a leading slash, as it was sent. */
  readonly path: string;
  /** Query as it was sent, without the question mark. */
  readonly search: string;
  /** Path at which the endpoint was mounted. */
  readonly mount: string;
}

/** Parsed JSON body, or the problem with it. `words` can follow "the request body" in a message. */
export type JsonBody = ReadJson | { readonly ok: false; readonly fault: "encoding"; readonly words: string };

/** Principal of requests on paths that need no sign-in. */
export const NOBODY: Principal = Object.freeze({ id: "nobody", rights: rightsWithin({ allow: [] }), remote: true });

export interface ExchangeLimits extends StreamLimits, JsonLimits {
  readonly maxBodyBytes: number;
}

/** Parts that all exchanges of a listener share. */
export interface ExchangePlace {
  readonly limits: ExchangeLimits;
  /** Aborted when the listener starts to close. */
  readonly closing: AbortSignal;
  /** Limit of bodies that are still arriving. */
  readonly bodies: BodyBudget;
  readonly authenticator: Pick<Authenticator, "challengeScopes">;
}

/**
 * One request and its answer, for endpoints: checked and authenticated. Independent of the transport, which the
 * adapters handle (`node/`, `fetch/`, `workers/`).
 */
export class HttpExchange implements BodyAccounts, ScopesOwner {
  readonly answer: HttpAnswer;
  readonly method: string;
  readonly principal: Principal;
  /** Span of the request. Absent: the request is not recorded. */
  declare requestSpan?: Span;
  /** Id of the hub that passed the request to this one. Absent: the request came from its caller. */
  declare relayedFrom?: string;
  /** Parts that all exchanges of the listener share. */
  readonly place: ExchangePlace;
  readonly #request: HttpRequest;
  readonly #facts: ExchangeFacts;
  #query: URLSearchParams | undefined;

  constructor({ request, answer }: Arrival, facts: ExchangeFacts, place: ExchangePlace) {
    this.#request = request;
    this.answer = answer;
    this.#facts = facts;
    this.method = request.method;
    this.principal = facts.principal;
    this.place = place;
    answer.scopesOwner = this;
  }

  /** Returns the same request for a caller that the endpoint of an open path has authenticated. */
  withPrincipal(principal: Principal): HttpExchange {
    const { remoteAddress, baseUrl, path, search, mount } = this.#facts;
    const facts = { principal, remoteAddress, baseUrl, path, search, mount };
    return new HttpExchange({ request: this.#request, answer: this.answer }, facts, this.place);
  }

  get headers(): RequestHeaders {
    return this.#request.headers;
  }

  get remoteAddress(): string {
    return this.#facts.remoteAddress;
  }

  /** `http://host:port/base`, or with `https`, as the caller addresses the hub, without a trailing slash. */
  get baseUrl(): string {
    return this.#facts.baseUrl;
  }

  /** Address of the MCP endpoint, for the profile through which the request arrived. */
  get mcpUrl(): string {
    const { baseUrl, principal } = this.#facts;
    return principal.profile ? baseUrl : `${baseUrl}/mcp`;
  }

  /** Path below the base path, with a leading slash, as it was sent. */
  get path(): string {
    return this.#facts.path;
  }

  /** Query as it was sent, without the question mark. */
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

  /** Aborted when the listener starts to close. Streams should then end. */
  get closing(): AbortSignal {
    return this.place.closing;
  }

  /** Returns the challenge for an operation that needs these scopes. Returns `undefined` if callers have no scopes. */
  challengeScopes(scopes: readonly string[]): string | undefined {
    return this.place.authenticator.challengeScopes?.(scopes, this.#facts.mount);
  }

  /**
   * Returns the result of `read`, which reads facts from the head. Requests that repeat the head share the result, so
   * it must not depend on the caller, the body or the time. An endpoint has one such function.
   */
  ofHead<T>(read: (exchange: HttpExchange) => T): T {
    const { memo } = this.#request;
    if (!memo) return read(this);
    if (memo.reader !== read) {
      memo.read = read(this);
      memo.reader = read;
    }
    // The type assertion is safe: `read` has returned the value.
    return memo.read as T;
  }

  /** Returns one header by its name in lower case. */
  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  /**
   * Returns the whole body, or a promise while it is still arriving. `maxBytes`: maximum size (default: the listener's
   * limit). Throws or rejects with a `Refusal`. May be called only once.
   */
  readBody(maxBytes = this.place.limits.maxBodyBytes): Buffer | Promise<Buffer> {
    return this.#request.readBody(maxBytes, this);
  }

  /** Counts a body that is still arriving: for the principal, or for the client's address if there is no token. */
  openBody(release: ReleaseBytes): ArrivingBytes {
    const { principal, remoteAddress } = this.#facts;
    const holder = isNamed(principal) ? `principal ${principal.id}` : `address ${remoteAddress}`;
    return this.place.bodies.open(holder, release);
  }

  /** Parses a body as JSON within the listener's limits. */
  parseJson(body: Buffer): JsonBody {
    return isUtf8(body)
      ? readJson(body.toString("utf8"), this.place.limits)
      : { ok: false, fault: "encoding", words: "is not UTF-8" };
  }

  /**
   * Opens a stream that may last longer than the caller's access token. The stream ends when the token expires. An
   * answer to a single request need not end then, because the token was valid when the request arrived.
   */
  openLastingStream(headers?: Readonly<Record<string, string>>): EventStream {
    const stream = this.openStream(headers);
    this.endWithToken(() => stream.end());
    return stream;
  }

  /** Calls `end` when the caller's access token expires, unless the answer has ended before. */
  endWithToken(end: () => void): void {
    const { expiresAt } = this.principal.identity ?? {};
    if (expiresAt === undefined) return;
    const timer = setTimeout(end, Math.min(Math.max(0, expiresAt - Date.now()), MAX_TIMER_MS)).unref();
    this.answer.onClosed(() => clearTimeout(timer));
  }

  /** Starts a stream of server-sent events as the answer. */
  openStream(headers?: Readonly<Record<string, string>>): EventStream {
    return new EventStream(this.answer, this.place.limits, headers);
  }
}

/** Maximum delay of a timer; Node fires longer ones immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns true if the caller sent a token. Otherwise it is `local`, or `nobody` on an open path, and many clients share
 * that principal.
 */
function isNamed({ id }: Principal): boolean {
  return id !== LOCAL_PRINCIPAL.id && id !== NOBODY.id;
}

/** Shared empty query, which must not be changed. */
const NO_QUERY = new URLSearchParams();
