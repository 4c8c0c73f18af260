import type { ServerResponse } from "node:http";
import type { Principal } from "../core/call.ts";
import { EventStream, type StreamLimits } from "./event-stream.ts";

/** What the listener knows of a request that it hands to a handler. */
export interface RequestContext {
  readonly principal: Principal;
  /** Where the caller is; behind a trusted proxy, where that says it is. */
  readonly remoteAddress: string;
  /** `http://host:port/base` as the caller names it, without a slash at its end. */
  readonly baseUrl: string;
  /** Below the base path, with a leading slash, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Aborted when the listener begins to close: streams should end. */
  readonly closing: AbortSignal;
  readonly maxJsonDepth: number;
  /** The whole body, up to `maxBytes` (the listener's bound where absent). Rejects with a `Refusal`; call it once. */
  readBody(maxBytes?: number): Promise<Buffer>;
  /** Begins a stream of server-sent events as the answer. */
  openStream(headers?: Readonly<Record<string, string>>): EventStream;
}

/** What is settled of a request before it is handed on. */
export interface ContextFacts {
  readonly principal: Principal;
  readonly remoteAddress: string;
  readonly baseUrl: string;
  readonly path: string;
  /** What stands behind the question mark. */
  readonly search: string;
  readonly closing: AbortSignal;
}

export interface ContextLimits extends StreamLimits {
  readonly maxBodyBytes: number;
  readonly maxJsonDepth: number;
}

/** What one request needs of where it came in. */
export interface Inlet {
  readonly response: ServerResponse;
  readonly limits: ContextLimits;
  readBody(maxBytes: number): Promise<Buffer>;
}

/**
 * A class, since an object literal with an accessor would make a hidden class for each request, which lives until a
 * full collection.
 */
export class HandlerContext implements RequestContext {
  readonly principal: Principal;
  readonly remoteAddress: string;
  readonly baseUrl: string;
  readonly path: string;
  readonly closing: AbortSignal;
  readonly maxJsonDepth: number;
  readonly #search: string;
  readonly #inlet: Inlet;
  #query: URLSearchParams | undefined;

  constructor(facts: ContextFacts, inlet: Inlet) {
    this.#inlet = inlet;
    this.#search = facts.search;
    this.principal = facts.principal;
    this.remoteAddress = facts.remoteAddress;
    this.baseUrl = facts.baseUrl;
    this.path = facts.path;
    this.closing = facts.closing;
    this.maxJsonDepth = inlet.limits.maxJsonDepth;
  }

  get query(): URLSearchParams {
    this.#query ??= this.#search === "" ? NO_QUERY : new URLSearchParams(this.#search);
    return this.#query;
  }

  readBody(maxBytes = this.#inlet.limits.maxBodyBytes): Promise<Buffer> {
    return this.#inlet.readBody(maxBytes);
  }

  openStream(headers?: Readonly<Record<string, string>>): EventStream {
    return new EventStream(this.#inlet.response, this.#inlet.limits, headers);
  }
}

/** Read only. */
const NO_QUERY = new URLSearchParams();
