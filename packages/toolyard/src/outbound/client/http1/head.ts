import { trimBlanks } from "../../../core/text/trim-blanks.ts";
import { notHttp } from "./fault.ts";

/** Ways in which the end of a body is determined. */
export type ResponseFraming = "none" | "length" | "chunked" | "until-end";

/** Status and header fields of an answer. */
export interface ResponseHead {
  readonly status: number;
  /** Returns the value of a field by its name in lower case. Several fields with the same name are joined. */
  readonly header: (name: string) => string | undefined;
  readonly framing: ResponseFraming;
  /** Length of a body with `length`, else 0. */
  readonly length: number;
  /** True if the server allows another request on this connection. */
  readonly keepsAlive: boolean;
  /** Time for which the server keeps an idle connection; undefined if it reports none. */
  readonly keepAliveMs: number | undefined;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
/** At most 15 digits, so that the number is a safe integer. */
const LENGTH = /^\d{1,15}$/;
const CLOSES = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const HINT = /(?:^|[,;\s])timeout=(\d{1,9})(?:$|[,;\s])/i;

/**
 * Parses a head without its final empty line. Throws if the head contains anything that parsers interpret differently:
 * bare line feeds, folded lines, spaces before a colon, repeated lengths, and a length together with a transfer
 * encoding.
 */
export function parseHead(text: string): ResponseHead {
  const lines = text.split("\r\n");
  const [, minor, digits] = STATUS_LINE.exec(lines[0]!) ?? [];
  if (minor === undefined) throw notHttp("its first line is no status line");
  const fields: string[] = [];
  for (let at = 1; at < lines.length; at += 1) readField(lines[at]!, fields);
  const status = Number(digits);
  const header = (name: string): string | undefined => lookUp(fields, name);
  const { framing, length, isDoubtful } = framingOf(status, minor === "0", fields);
  const saysClose = CLOSES.test(lookUp(fields, "connection") ?? "");
  const keepsAlive = minor === "1" && framing !== "until-end" && !isDoubtful && !saysClose;
  const hint = HINT.exec(lookUp(fields, "keep-alive") ?? "")?.[1];
  return {
    status,
    header,
    framing,
    length,
    keepsAlive,
    keepAliveMs: hint === undefined ? undefined : Number(hint) * 1000,
  };
}

/** Returns whether a line is a header or trailer field. */
export function isField(line: string): boolean {
  return FIELD.test(line);
}

function readField(line: string, fields: string[]): void {
  if (!isField(line)) throw notHttp("a line of its head is no header field");
  // Field names contain no colon, so the first colon ends the name.
  const colon = line.indexOf(":");
  fields.push(line.slice(0, colon).toLowerCase(), trimBlanks(line, colon + 1));
}

function lookUp(fields: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let at = 0; at < fields.length; at += 2)
    if (fields[at] === name) value = value === undefined ? fields[at + 1]! : `${value}, ${fields[at + 1]!}`;
  return value;
}

interface BodyFraming extends Pick<ResponseHead, "framing" | "length"> {
  /** Present if another parser might see a body here. The connection is then not used again. */
  readonly isDoubtful?: true;
}

function framingOf(status: number, isOld: boolean, fields: readonly string[]): BodyFraming {
  const encoding = lookUp(fields, "transfer-encoding");
  const length = lookUp(fields, "content-length");
  // Repeated lengths are also rejected here, because two fields are joined with a comma.
  if (length !== undefined && !LENGTH.test(length)) throw notHttp("its length is no number, or given twice");
  if (encoding !== undefined) assertChunked(encoding, { isOld, hasLength: length !== undefined });
  if (status < 200 || status === 204 || status === 304)
    return withoutBody(status, encoding !== undefined || (length !== undefined && !/^0+$/.test(length)));
  if (encoding !== undefined) return { framing: "chunked", length: 0 };
  if (length === undefined) return { framing: "until-end", length: 0 };
  const bytes = Number(length);
  return bytes === 0 ? NO_BODY : { framing: "length", length: bytes };
}

function withoutBody(status: number, saysBody: boolean): BodyFraming {
  if (saysBody && status < 200) throw notHttp("an interim answer declares a body");
  return saysBody ? { ...NO_BODY, isDoubtful: true } : NO_BODY;
}

const NO_BODY = { framing: "none", length: 0 } as const;

function assertChunked(encoding: string, { isOld, hasLength }: { isOld: boolean; hasLength: boolean }): void {
  if (hasLength) throw notHttp("it has a length and a transfer encoding");
  if (isOld || encoding.toLowerCase() !== "chunked") throw notHttp("its transfer encoding is not `chunked` alone");
}
