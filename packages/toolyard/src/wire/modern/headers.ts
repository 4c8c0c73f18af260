import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
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
 * Returns the source of `Mcp-Name`, or `undefined` for a method without one. `value` is absent if the body has no such
 * string.
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
  if (!hasSentinel(trimmed)) return trimmed;
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

/** Annotation `x-mcp-header` of a tool: `Mcp-Param-<name>` repeats the argument at `path`. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly name: string;
  readonly type: string;
}

export type ParamHeaders =
  | { readonly ok: true; readonly headers: readonly ParamHeader[] }
  /** Invalid annotations. Clients omit the tool; a server still compares the `headers` that it found. */
  | { readonly ok: false; readonly reason: string; readonly headers: readonly ParamHeader[] };

const ANNOTATION = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PERMITTED_TYPES: readonly unknown[] = ["string", "integer", "boolean"];

/** Maximum depth of a schema. Deeper parts are ignored, as a protection against malicious schemas. */
const MAX_SCHEMA_DEPTH = 100;

/** Keywords with one schema or a list of schemas. A chain of `properties` does not lead through them. */
const INNER_SCHEMAS = (
  "items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames " +
  "oneOf anyOf allOf not if then else"
).split(" ");
/** Keywords that map names to schemas. */
const INNER_SCHEMA_MAPS = ["patternProperties", "dependentSchemas", "$defs", "definitions"];

const NO_HEADERS: ParamHeaders = Object.freeze({ ok: true, headers: Object.freeze([]) });

/**
 * Finds the `x-mcp-header` annotations of an `inputSchema` and checks them. Each must be on a property that a chain of
 * `properties` reaches, have a token as its name, be unique case-insensitively, and belong to a string, an integer or a
 * boolean.
 */
export function findParamHeaders(inputSchema: JsonObject): ParamHeaders {
  const headers: ParamHeader[] = [];
  const taken = new Set<string>();
  const reasons: string[] = [];

  const visit = (schema: unknown, place: SchemaPlace): void => {
    if (!isJsonObject(schema) || place.depth > MAX_SCHEMA_DEPTH) return;
    if (ANNOTATION in schema) annotate(schema, place);
    const depth = place.depth + 1;
    for (const [key, child] of Object.entries(objectMember(schema, "properties") ?? {}))
      visit(child, { ...place, path: [...place.path, key], depth });
    for (const inner of innerSchemas(schema)) visit(inner, { path: place.path, isReachable: false, depth });
  };
  const annotate = (schema: JsonObject, { path, isReachable }: SchemaPlace): void => {
    const where = `\`${path.join(".") || "(root)"}\``;
    const name = schema[ANNOTATION];
    const problem = nameProblem(name, isReachable && path.length > 0, taken);
    if (typeof name !== "string" || problem !== undefined) return void reasons.push(`${where}: ${problem}`);
    const type = schema["type"];
    const isPermitted = PERMITTED_TYPES.includes(type);
    if (!isPermitted)
      reasons.push(
        `${where}: ${ANNOTATION} is only permitted on string, integer and boolean properties, not on ` +
          `${JSON.stringify(type ?? null)}`,
      );
    // A `number` is invalid in a tool. Its header is still compared, because it is unambiguous.
    if (!isPermitted && type !== "number") return;
    taken.add(name.toLowerCase());
    headers.push({ path, name, type: String(type) });
  };

  visit(inputSchema, { path: [], isReachable: true, depth: 0 });
  if (reasons[0] !== undefined) return { ok: false, reason: reasons[0], headers };
  return headers.length === 0 ? NO_HEADERS : { ok: true, headers };
}

/** Place of a schema inside another schema. */
interface SchemaPlace {
  readonly path: readonly string[];
  /** True if a chain of `properties` leads to it. */
  readonly isReachable: boolean;
  readonly depth: number;
}

function innerSchemas(schema: JsonObject): unknown[] {
  const direct = INNER_SCHEMAS.flatMap((keyword): unknown[] => {
    const value = schema[keyword];
    return Array.isArray(value) ? value : [value];
  });
  const mapped = INNER_SCHEMA_MAPS.flatMap((keyword) => Object.values(objectMember(schema, keyword) ?? {}));
  return [...direct, ...mapped];
}

function nameProblem(name: unknown, reachable: boolean, taken: ReadonlySet<string>): string | undefined {
  if (!reachable) return `${ANNOTATION} is only permitted on properties that a chain of \`properties\` reaches`;
  if (typeof name !== "string" || name === "") return `${ANNOTATION} must be a non-empty string`;
  if (!TOKEN.test(name)) return `${ANNOTATION} ${JSON.stringify(name)} is not a header name: use letters, digits and -`;
  return taken.has(name.toLowerCase()) ? `${ANNOTATION} \`${name}\` is used twice` : undefined;
}

/** Returns the `Mcp-Param-*` headers of one call. An argument that is absent, null or not a scalar has no header. */
export function paramHeaders(headers: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const result: Record<string, string> = {};
  for (const header of headers) {
    const text = toHeaderText(valueAt(args, header.path));
    if (text !== undefined) result[`${HEADERS.paramPrefix}${header.name}`] = encodeHeaderValue(text);
  }
  return result;
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
 * Returns the difference between a call and its `Mcp-Param-*` headers, if there is one. Headers that the tool does not
 * declare are ignored.
 */
export function findParamMismatch(
  declared: readonly ParamHeader[],
  args: JsonObject,
  headers: HeaderLookup,
): HeaderMismatch | undefined {
  for (const { name, path, type } of declared) {
    const value = valueAt(args, path);
    const text = toHeaderText(value);
    if (text === undefined) continue;
    const header = `${HEADERS.paramPrefix}${name}`;
    const given = headers.header(header.toLowerCase());
    // Numbers are compared by value, because 42 and 42.0 are the same number.
    if (given !== undefined && type !== "string" && typeof value === "number" && isDecimalOf(given, value)) continue;
    const mismatch = compareText(header, given, { body: path.join("."), text });
    if (mismatch) return mismatch;
  }
  return undefined;
}

/**
 * Headers of a request. This is an object and not a function, because an object with a function stays in memory until a
 * full garbage collection.
 */
export interface HeaderLookup {
  /** Returns one header by its name in lower case. */
  header(name: string): string | undefined;
}

function compareText(
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

function isDecimalOf(given: string, value: number): boolean {
  const decoded = decodeHeaderValue(given);
  return decoded !== undefined && /^-?\d+(\.\d+)?$/.test(decoded) && Number(decoded) === value;
}

function toHeaderText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

function valueAt(root: JsonObject, path: readonly string[]): unknown {
  let node: unknown = root;
  for (const key of path) {
    if (!isJsonObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return node;
}
