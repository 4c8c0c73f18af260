import { LastRead } from "../../../../core/timing/last-read.ts";
import { trimBlanks } from "../../../../core/text/trim-blanks.ts";
import { HeadMemo, type RequestHeaders } from "../../../wire.ts";

/** Head of a plain request. */
export interface PlainHead {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Length of the body. */
  readonly bodyBytes: number;
  readonly memo: HeadMemo;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const REQUEST_LINE = /^(GET|POST|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;
/**
 * Matches digits with at most one blank before them. Node's parser refuses some other blanks, so these are not matched.
 */
const LENGTH = /^ ?\d{1,15}$/;
/**
 * Headers that change the connection or the reading of a body, which Node's server handles or refuses. Also
 * `set-cookie`, which Node returns as a list, and `__proto__`, which cannot be an ordinary key.
 */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  "content-encoding",
  "transfer-encoding",
  "expect",
  "upgrade",
  "trailer",
  "proxy-connection",
  "set-cookie",
  "__proto__",
]);
/**
 * Maximum number of header fields, far above what programs send. The limit for all requests is in
 * `../../head-limits.ts`.
 */
const MAX_FIELDS = 1000;

/**
 * Reads heads of unambiguous requests. A head is not plain if it deviates from the usual form, repeats a header, or
 * requires more than an answer on this connection. Node's own server then reads the request.
 */
export class PlainHeadReader {
  readonly #maxBytes: number;
  /** Parsed heads. Callers send nearly the same head each time. */
  readonly #heads = new LastRead(readHead);
  /** Offset after the head that `read` returned last. */
  end = 0;

  /** `maxBytes`: maximum size of a head, including its empty line. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the head at the start of these bytes. Returns `undefined` if it is incomplete or not plain. */
  read(bytes: Buffer): PlainHead | undefined {
    const found = bytes.indexOf(HEAD_END);
    if (found === -1 || found + HEAD_END.length > this.#maxBytes) return undefined;
    this.end = found + HEAD_END.length;
    return this.#heads.of(bytes.toString("latin1", 0, found));
  }
}

function readHead(text: string): PlainHead | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const [, method, target] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || target === undefined) return undefined;
  const headers = readFields(lines);
  if (headers?.["host"] === undefined) return undefined;
  const bodyBytes = bodyBytesOf(method, headers["content-length"]);
  return bodyBytes === undefined
    ? undefined
    : {
        method: method as PlainHead["method"],
        target,
        headers: Object.freeze(headers),
        bodyBytes,
        memo: new HeadMemo(),
      };
}

function readFields(lines: readonly string[]): Record<string, string> | undefined {
  if (lines.length > MAX_FIELDS) return undefined;
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const lower = name.toLowerCase();
    if (lower in headers || NOT_PLAIN.has(lower)) return undefined;
    if (lower === "content-length" && !LENGTH.test(value)) return undefined;
    headers[lower] = trimBlanks(value);
  }
  return (headers["connection"] ?? "keep-alive").toLowerCase() === "keep-alive" ? headers : undefined;
}

/** Returns the declared length of the body. A request without a length has no body. */
function bodyBytesOf(method: string, length: string | undefined): number | undefined {
  if (length === undefined) return method === "POST" ? undefined : 0;
  const bytes = Number(length);
  return method === "GET" && bytes > 0 ? undefined : bytes;
}
