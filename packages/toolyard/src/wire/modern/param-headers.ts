import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import {
  compareText,
  decodeHeaderValue,
  encodeHeaderValue,
  HEADERS,
  type HeaderLookup,
  type HeaderMismatch,
} from "./headers.ts";

/** Annotation `x-mcp-header` of a tool: `Mcp-Param-<name>` repeats the argument at `path`. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly name: string;
  readonly type: string;
}

export type ParamHeaders =
  | { readonly ok: true; readonly headers: readonly ParamHeader[] }
  /**
   * Invalid annotations. Clients omit the tool. A server still compares the annotations with a clear meaning, which are
   * in `headers`.
   */
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
  /** True if a chain of `properties` leads to the schema. */
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
