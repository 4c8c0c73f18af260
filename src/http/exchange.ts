import type { Principal } from "../core/call.ts";
import type { HttpAnswer } from "./answer.ts";
import { EventStream, type StreamLimits } from "./event-stream.ts";
import { parseJsonBody, type JsonBody } from "./json-body.ts";
import type { JsonLimits } from "../wire/parse-json.ts";
import type { HttpRequest, RequestHeaders } from "./wire.ts";

/** A request that has arrived, and the way back. */
export interface Arrival {
  readonly request: HttpRequest;
  readonly answer: HttpAnswer;
}

/** What is settled of a request before it is handed on. */
export interface ExchangeFacts {
  readonly principal: Principal;
  /** Where the caller is; behind a trusted proxy, where that says it is. */
  readonly remoteAddress: string;
  /** `http://host:port/base`, or with `https`, as the caller names it, without a slash at its end. */
  readonly baseUrl: string;
  /** Below the base path, with a leading slash, as it was sent. */
  readonly path: string;
  /** What stands behind the question mark. */
  readonly search: string;
}

export interface ExchangeLimits extends StreamLimits, JsonLimits {
  readonly maxBodyBytes: number;
}

/** What all exchanges of a listener share. */
export interface ExchangePlace {
  readonly limits: ExchangeLimits;
  /** Aborted when the listener begins to close. */
  readonly closing: AbortSignal;
}

/**
 * One request and its answer, as doors have it: checked, with its caller known. Nothing here knows what carries it; the
 * rims do (`node/`, `fetch/`, `workers/`).
 */
export class HttpExchange {
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

  /** `http://host:port/base`, or with `https`, as the caller names it, without a slash at its end. */
  get baseUrl(): string {
    return this.#facts.baseUrl;
  }

  /** Below the base path, with a leading slash, as it was sent. */
  get path(): string {
    return this.#facts.path;
  }

  /** What stands behind the question mark, as it was sent. */
  get search(): string {
    return this.#facts.search;
  }

  get query(): URLSearchParams {
    const { search } = this.#facts;
    this.#query ??= search === "" ? NO_QUERY : new URLSearchParams(search);
    return this.#query;
  }

  /** Aborted when the listener begins to close: streams should end. */
  get closing(): AbortSignal {
    return this.#place.closing;
  }

  /** One header by its name in lower case. */
  header(name: string): string | undefined {
    return this.#request.header(name);
  }

  /**
   * The whole body, up to `maxBytes` (the listener's bound where absent), at once where it is here. Throws or rejects
   * with a `Refusal`; call it once.
   */
  readBody(maxBytes = this.#place.limits.maxBodyBytes): Buffer | Promise<Buffer> {
    return this.#request.readBody(maxBytes);
  }

  /** A body that was read, as JSON within the listener's bounds. */
  parseJson(body: Buffer): JsonBody {
    return parseJsonBody(body, this.#place.limits);
  }

  /** Begins a stream of server-sent events as the answer. */
  openStream(headers?: Readonly<Record<string, string>>): EventStream {
    return new EventStream(this.answer, this.#place.limits, headers);
  }
}

/** Read only. */
const NO_QUERY = new URLSearchParams();
