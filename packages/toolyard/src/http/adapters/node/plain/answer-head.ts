import type { RawHeaders } from "../../../wire.ts";

// `node:http` is not imported, because that would evaluate all its exports (see `../listener.ts`).
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Way in which the end of an answer's body is marked: there is no body, by its length, or by chunks. */
export type AnswerFraming = "none" | "length" | "chunks";

export interface SerializedHead {
  /** Head up to and including its empty line, one character per byte. */
  readonly text: string;
  readonly framing: AnswerFraming;
  /** True if the connection is closed after this answer. */
  readonly closes: boolean;
}

interface ConnectionEnd {
  /** True if the connection must be closed after this answer, whatever the headers are. */
  readonly closes: boolean;
  /** Milliseconds for which an unused connection is kept. */
  readonly idleMs: number;
}

/**
 * Formats the head of an answer. `HttpAnswer` has checked the headers. If a name occurs twice, the later header
 * applies.
 */
export function answerHead(status: number, told: AnswerHeaders, ending: ConnectionEnd): SerializedHead {
  const fields = fieldsOf(told);
  const framing = framingOf(status, fields.hasLength);
  const closes = ending.closes || fields.closes;
  const text =
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n${fields.text}Date: ${date()}\r\n` +
    (closes ? CLOSE : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(ending.idleMs / 1000)}\r\n`) +
    (framing === "chunks" ? CHUNKED : "\r\n");
  return { text, framing, closes };
}

const CLOSE = "Connection: close\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\n\r\n";

function framingOf(status: number, hasLength: boolean): AnswerFraming {
  if (status < 200 || status === 204 || status === 304) return "none";
  return hasLength ? "length" : "chunks";
}

/** Headers set earlier with `setHeader`, and headers passed to `begin`. */
interface AnswerHeaders {
  readonly earlier: RawHeaders;
  readonly headers: RawHeaders;
}

interface Fields {
  readonly text: string;
  readonly closes: boolean;
  readonly hasLength: boolean;
}

/**
 * Last formatted head without `content-length`. It is cached, because an endpoint usually sends the same head each
 * time.
 */
let last: { readonly headers: RawHeaders; readonly text: string; readonly closes: boolean } | undefined;

/** Returns the headers without `Connection` and `Keep-Alive`, which the caller adds once. */
function fieldsOf({ earlier, headers }: AnswerHeaders): Fields {
  const length = headers.length - 2;
  if (earlier.length > 0 || headers[length] !== "content-length") return readFields({ earlier, headers });
  if (!last || !isSame(last.headers, headers, length)) {
    const { text, closes, hasLength } = readFields({ earlier, headers: headers.slice(0, length) });
    if (hasLength) return readFields({ earlier, headers });
    last = { headers, text, closes };
  }
  return { text: `${last.text}content-length: ${headers[length + 1]!}\r\n`, closes: last.closes, hasLength: true };
}

/** Returns true if both lists have the same length and the same first `count` members. */
function isSame(one: RawHeaders, other: RawHeaders, count: number): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < count; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

function readFields({ earlier, headers }: AnswerHeaders): Fields {
  let text = "";
  let closes = false;
  let hasLength = false;
  for (let at = 0; at < earlier.length; at += 2)
    if (!hasName(headers, earlier[at]!)) text += field(earlier[at]!, earlier[at + 1]!);
  for (let at = 0; at < headers.length; at += 2) {
    const lower = headers[at]!.toLowerCase();
    if (lower === "connection") closes ||= headers[at + 1]!.toLowerCase() === "close";
    else text += field(headers[at]!, headers[at + 1]!);
    hasLength ||= lower === "content-length";
  }
  return { text, closes, hasLength };
}

function hasName(headers: RawHeaders, name: string): boolean {
  const lower = name.toLowerCase();
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === lower) return true;
  return false;
}

function field(name: string, value: string): string {
  return `${name}: ${value}\r\n`;
}

let second = 0;
let shown = "";

function date(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    shown = new Date(now * 1000).toUTCString();
  }
  return shown;
}
