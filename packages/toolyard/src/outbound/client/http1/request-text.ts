import type { TransportRequest } from "../sender.ts";
import { Http1Fault } from "./fault.ts";

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^\/[\x21-\x7e]*$/;
const BEYOND_ASCII = /[\x80-\xff]/;
/** Header fields that determine the message length or the use of the connection. Only this file sets them. */
const OURS: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "expect",
]);

/** A whole request, to be written in one piece. */
export type RequestBytes =
  | { readonly data: string; readonly encoding: "latin1" | "utf8" }
  | { readonly data: Buffer; readonly encoding: undefined };

/**
 * The last formatted head: its parts, by which the next request is compared, and its text without the length of the
 * body.
 */
interface RequestHeadText extends Pick<TransportRequest, "method" | "path" | "headers"> {
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly text: string;
}

/** Maximum length of a head that is cached. */
const MAX_KEPT_CHARS = 8192;

/**
 * Formats the requests to one host. Most have the same head as the previous one, so the last head is cached: checking
 * each header again would cost as much as sending it.
 */
export class RequestWriter {
  readonly #host: string;
  #last: RequestHeadText | undefined;

  constructor(host: string) {
    this.#host = host;
  }

  /** Returns the bytes of a request. Throws an `Http1Fault` if it cannot be sent as one request. */
  bytesOf(request: TransportRequest): RequestBytes {
    const { body } = request;
    let head = this.#headOf(request);
    if (body === undefined) return { data: `${head}\r\n`, encoding: "latin1" };
    const length = Buffer.byteLength(body);
    head += `content-length: ${length}\r\n\r\n`;
    if (typeof body !== "string")
      return { data: Buffer.concat([Buffer.from(head, "latin1"), body]), encoding: undefined };
    // A text that contains only ASCII characters, the usual case, needs no encoding.
    if (length === body.length) return { data: head + body, encoding: "latin1" };
    if (!BEYOND_ASCII.test(head)) return { data: head + body, encoding: "utf8" };
    return { data: Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]), encoding: undefined };
  }

  #headOf(request: TransportRequest): string {
    if (this.#last && isHeadOf(this.#last, request)) return this.#last.text;
    const { method, path, headers } = request;
    const text = headText(request, this.#host);
    const isShort = text.length <= MAX_KEPT_CHARS;
    this.#last = isShort
      ? { method, path, headers, names: Object.keys(headers), values: Object.values(headers), text }
      : undefined;
    return text;
  }
}

function isHeadOf(head: RequestHeadText, { method, path, headers }: TransportRequest): boolean {
  if (head.method !== method || head.path !== path) return false;
  if (head.headers === headers) return true;
  const { names, values } = head;
  let at = 0;
  for (const name in headers) {
    if (names[at] !== name || values[at] !== headers[name]) return false;
    at += 1;
  }
  return at === names.length;
}

function headText({ method, path, headers }: TransportRequest, host: string): string {
  if (!TARGET.test(path)) throw refused("its path contains an invalid character");
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (!NAME.test(name) || OURS.has(name)) throw refused("one of its headers may not be set");
    if (!VALUE.test(value)) throw refused("one of its headers contains an invalid character");
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

function refused(why: string): Http1Fault {
  return new Http1Fault("TOOLYARD_BAD_REQUEST", `The request cannot be sent: ${why}.`);
}
