import { objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { META } from "./envelope.ts";

/** Names of headers as they are sent. They are compared case-insensitively. */
export const HEADERS = {
  protocolVersion: "MCP-Protocol-Version",
  sessionId: "Mcp-Session-Id",
  method: "Mcp-Method",
  name: "Mcp-Name",
  paramPrefix: "Mcp-Param-",
} as const;

/** Member of `params` that the header `Mcp-Name` repeats, by method. */
const NAME_MEMBERS: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/**
 * Returns the member of `params` that `Mcp-Name` repeats, and its value. Returns `undefined` for a method without this
 * header. `value` is absent if the body has no such string.
 */
export function nameSource(
  method: string,
  params: JsonObject | undefined,
): { readonly member: string; readonly value?: string } | undefined {
  const member = NAME_MEMBERS.get(method);
  if (member === undefined) return undefined;
  const value = params && stringMember(params, member);
  return { member, ...(value !== undefined && { value }) };
}

/** Returns the headers that a modern request repeats from its body, except for `Mcp-Param-*`. */
export function standardHeaders(method: string, params: JsonObject | undefined): Record<string, string> {
  const meta = params && objectMember(params, "_meta");
  const revision = meta && stringMember(meta, META.protocolVersion);
  const name = nameSource(method, params)?.value;
  return {
    ...(revision !== undefined && { [HEADERS.protocolVersion]: revision }),
    [HEADERS.method]: method,
    ...(name !== undefined && { [HEADERS.name]: encodeHeaderValue(name) }),
  };
}

const SENTINEL_START = "=?base64?";
const SENTINEL_END = "?=";
const PLAIN = /^[\t\x20-\x7e]+$/;
const HAS_BLANK_END = /^[ \t]|[ \t]$/;
const CANONICAL_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Encodes a text as a header value: plain ASCII unchanged, all other text as `=?base64?…?=` with base64 of UTF-8. */
export function encodeHeaderValue(text: string): string {
  const isPlain = PLAIN.test(text) && text === text.trim() && !hasSentinel(text);
  return isPlain ? text : `${SENTINEL_START}${Buffer.from(text, "utf8").toString("base64")}${SENTINEL_END}`;
}

/** Decodes a header value. Returns `undefined` if the sentinel contains other data than base64 of UTF-8. */
export function decodeHeaderValue(value: string): string | undefined {
  const trimmed = HAS_BLANK_END.test(value) ? value.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, "") : value;
  if (!trimmed.startsWith(SENTINEL_START) || !hasSentinel(trimmed)) return trimmed;
  const payload = trimmed.slice(SENTINEL_START.length, -SENTINEL_END.length);
  if (!CANONICAL_BASE64.test(payload)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(payload, "base64"));
  } catch {
    return undefined;
  }
}

function hasSentinel(text: string): boolean {
  return (
    text.length >= SENTINEL_START.length + SENTINEL_END.length &&
    text.startsWith(SENTINEL_START) &&
    text.endsWith(SENTINEL_END)
  );
}

export interface HeaderMismatch {
  /** Header that differs from the body. */
  readonly header: string;
  /** Description of the difference, for the message of the error -32020. */
  readonly problem: string;
}

/** Returns the difference between a modern request and its `Mcp-Method` and `Mcp-Name`, if there is one. */
export function findStandardMismatch(
  method: string,
  params: JsonObject | undefined,
  headers: HeaderLookup,
): HeaderMismatch | undefined {
  const given = headers.header("mcp-method");
  if (given === undefined)
    return { header: HEADERS.method, problem: `the body names method ${method} but the header is absent` };
  if (given.trim() !== method)
    return { header: HEADERS.method, problem: `the body names method ${method} but the header names ${given.trim()}` };
  const source = nameSource(method, params);
  if (source?.value === undefined) return undefined;
  return compareText(HEADERS.name, headers.header("mcp-name"), { body: `params.${source.member}`, text: source.value });
}

/**
 * Headers of a request. This is an object and not a function, because an object with a function stays in memory until a
 * full garbage collection.
 */
export interface HeaderLookup {
  /** Returns one header by its name in lower case. */
  header(name: string): string | undefined;
}

/** Returns the difference between a header and a text of the body, if there is one. */
export function compareText(
  header: string,
  given: string | undefined,
  expected: { body: string; text: string },
): HeaderMismatch | undefined {
  if (given === undefined) return { header, problem: `the body carries ${expected.body} but the header is absent` };
  const decoded = decodeHeaderValue(given);
  if (decoded === undefined) return { header, problem: "the header holds an invalid base64 value" };
  return decoded === expected.text
    ? undefined
    : { header, problem: `the header and ${expected.body} of the body differ` };
}
