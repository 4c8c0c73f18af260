import { writePrincipal, type PrincipalReader } from "../../adapters/workers/principal-text.ts";
import type { RequestHead } from "../../adapters/workers/messages.ts";
import type { Principal } from "../../../core/calls/call.ts";
import type { HttpExchange } from "../../exchange.ts";
import { HeadMemo, type RequestHeaders } from "../../wire.ts";
import { passedHeaders } from "../relayed-headers.ts";

/** Head of a relayed request. */
export interface FrameHead extends RequestHead {
  /** True if the path of the request also serves other dialects than MCP. @default false */
  readonly hasDialects?: boolean;
}

/** Parsed head, with values that depend only on its text. */
export interface ReadHead {
  readonly head: FrameHead;
  readonly principal: Principal;
  readonly memo: HeadMemo;
}

/** Returns the head with which a request is passed to another hub. */
export function headFacts(http: HttpExchange, hasDialects: boolean): FrameHead {
  const { method, principal, remoteAddress, baseUrl, path, search, mount } = http;
  return {
    method,
    target: path,
    route: 0,
    headers: passedHeaders(http.headers),
    principal: writePrincipal(principal),
    remoteAddress,
    baseUrl,
    path,
    search,
    mount,
    ...(hasDialects && { hasDialects }),
  };
}

interface WrittenHead {
  readonly principal: Principal;
  readonly hasDialects: boolean;
  readonly text: string;
}

/**
 * Texts of heads by the headers of the request. Requests that repeat the previous head on their connection share the
 * headers object.
 */
const written = new WeakMap<RequestHeaders, WrittenHead>();

/** Returns the text of the head with which a request is passed to another hub. */
export function writeHead(http: HttpExchange, hasDialects: boolean): string {
  const { headers, principal } = http;
  const known = written.get(headers);
  if (known?.principal === principal && known.hasDialects === hasDialects) return known.text;
  const text = JSON.stringify(headFacts(http, hasDialects));
  written.set(headers, { principal, hasDialects, text });
  return text;
}

/** Maximum number of cached heads, and of characters of a cached head. */
const MAX_HEADS = 4096;
const MAX_HEAD_CHARS = 4096;

/** Parses heads of relayed requests. Caches the results, because requests of one client usually have the same head. */
export class HeadReader {
  readonly #known = new Map<string, ReadHead>();
  readonly #principals: PrincipalReader;

  constructor(principals: PrincipalReader) {
    this.#principals = principals;
  }

  read(text: string): ReadHead {
    const known = this.#known.get(text);
    if (known) return known;
    const head = JSON.parse(text) as FrameHead;
    const read = { head, principal: this.#principals.read(head.principal), memo: new HeadMemo() };
    // The head of a traced request differs from all others.
    if (text.length > MAX_HEAD_CHARS || head.headers["traceparent"] !== undefined) return read;
    if (this.#known.size >= MAX_HEADS) this.#known.clear();
    this.#known.set(text, read);
    return read;
  }
}
