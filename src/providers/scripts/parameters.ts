import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { nearest } from "../../core/suggest.ts";
import type { Findings } from "../tool-folders/findings.ts";

const TYPES: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "integer",
  boolean: "boolean",
  object: "object",
  array: "array",
  // Short forms that tools written for other servers use.
  str: "string",
  int: "integer",
  float: "number",
  bool: "boolean",
};
const KEYS = ["name", "type", "description", "required", "default", "enum", "min", "max", "pattern", "properties"];
const MAX_DEPTH = 8;

/** The bounds `min` and `max` as JSON Schema calls them for each type. */
const BOUNDS: Readonly<Record<string, readonly [min: string, max: string]>> = {
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  string: ["minLength", "maxLength"],
  array: ["minItems", "maxItems"],
};

/**
 * The JSON Schema of a tool's arguments, from `[parameters.x]` tables or a `[[parameters]]` list. What cannot be read
 * is a fault: the tool is not offered, since a guess would let wrong arguments through.
 */
export function parseParameters(raw: unknown, findings: Findings, path = "parameters", depth = 0): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, parameter] of entriesOf(raw, findings, path)) {
    const place = `${path}.${name}`;
    if (Object.hasOwn(properties, name)) findings.fault(`parameter \`${name}\` is there twice; keep one`);
    // A parameter may be called `__proto__`; plain assignment would lose it.
    Object.defineProperty(properties, name, {
      value: parseParameter(parameter, findings, place, depth),
      enumerable: true,
      configurable: true,
      writable: true,
    });
    if (parameter["required"] === true) required.push(name);
    else if (parameter["required"] !== undefined && parameter["required"] !== false)
      findings.fault(`\`${place}.required\` must be true or false`);
  }
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

function entriesOf(raw: unknown, findings: Findings, path: string): (readonly [string, JsonObject])[] {
  if (raw === undefined) return [];
  if (Array.isArray(raw))
    return raw.flatMap((entry: unknown, index) => listEntry(entry, findings, `${path}[${index}]`));
  if (!isJsonObject(raw)) {
    findings.fault(`\`${path}\` must be tables \`[${path}.<name>]\` or a list \`[[${path}]]\``);
    return [];
  }
  return Object.entries(raw).flatMap(([name, entry]) => {
    if (isJsonObject(entry)) return [[name, entry] as const];
    findings.fault(`\`${path}.${name}\` must be a table with a \`type\`, such as \`[${path}.${name}]\``);
    return [];
  });
}

function listEntry(entry: unknown, findings: Findings, place: string): (readonly [string, JsonObject])[] {
  if (isJsonObject(entry) && typeof entry["name"] === "string" && entry["name"] !== "") return [[entry["name"], entry]];
  findings.fault(`\`${place}\` needs a \`name\``);
  return [];
}

function parseParameter(raw: JsonObject, findings: Findings, place: string, depth: number): JsonObject {
  findings.noteUnknownKeys(raw, KEYS, place);
  const schema = typeSchema(raw["type"], findings, place);
  const type = String(schema["type"]);
  if (typeof raw["description"] === "string") schema["description"] = raw["description"];
  else if (raw["description"] !== undefined) findings.fault(`\`${place}.description\` must be a text`);
  if (raw["properties"] !== undefined) addProperties(schema, raw["properties"], findings, place, depth);
  if (raw["enum"] !== undefined) addEnum(schema, raw["enum"], findings, place);
  addBound(schema, raw, "min", 0, findings, place);
  addBound(schema, raw, "max", 1, findings, place);
  if (raw["pattern"] !== undefined) addPattern(schema, raw["pattern"], type, findings, place);
  if (raw["default"] !== undefined) addDefault(schema, raw["default"], findings, place);
  return schema;
}

/** `string`, `array`, `array:integer`, `array:array:string`. */
function typeSchema(type: unknown, findings: Findings, place: string): JsonObject {
  if (type === undefined) {
    findings.fault(`\`${place}\` has no \`type\`; say one of ${accepted()}`);
    return {};
  }
  const words = typeof type === "string" ? type.split(":") : [];
  const [first = "", ...rest] = words;
  const name = Object.hasOwn(TYPES, first) ? TYPES[first] : undefined;
  if (name === undefined || words.length > MAX_DEPTH || (rest.length > 0 && name !== "array")) {
    const [near] = nearest(first, Object.keys(TYPES), 1);
    findings.fault(
      `\`${place}.type\` is ${JSON.stringify(type)}; ` +
        `${near === undefined ? "" : `did you mean "${near}"? `}accepted are ${accepted()}`,
    );
    return {};
  }
  return rest.length > 0 ? { type: name, items: typeSchema(rest.join(":"), findings, place) } : { type: name };
}

function accepted(): string {
  return "string, number, integer, boolean, object, array and array:<type>";
}

function addProperties(schema: JsonObject, raw: unknown, findings: Findings, place: string, depth: number): void {
  if (schema["type"] !== "object" || depth >= MAX_DEPTH) {
    findings.fault(
      `\`${place}.properties\` needs \`type = ` +
        `"object"\`${depth >= MAX_DEPTH ? ` and less than ${MAX_DEPTH} levels` : ""}`,
    );
    return;
  }
  Object.assign(schema, parseParameters(raw, findings, `${place}.properties`, depth + 1));
}

function addEnum(schema: JsonObject, raw: unknown, findings: Findings, place: string): void {
  if (!Array.isArray(raw) || raw.length === 0) return findings.fault(`\`${place}.enum\` must be a list of values`);
  const wrong = raw.find((value: unknown) => !hasType(value, schema["type"]));
  if (wrong !== undefined)
    return findings.fault(`\`${place}.enum\` holds ${JSON.stringify(wrong)}, which is no ${String(schema["type"])}`);
  schema["enum"] = raw;
}

function addBound(
  schema: JsonObject,
  raw: JsonObject,
  key: "min" | "max",
  index: 0 | 1,
  findings: Findings,
  place: string,
): void {
  const value = raw[key];
  if (value === undefined) return;
  const bounds = BOUNDS[String(schema["type"])];
  if (!bounds) return findings.fault(`\`${place}.${key}\` has no meaning for ${String(schema["type"])}`);
  const isCount = bounds !== BOUNDS["number"] && bounds !== BOUNDS["integer"];
  const isGood =
    typeof value === "number" && Number.isFinite(value) && (!isCount || (Number.isInteger(value) && value >= 0));
  if (!isGood)
    return findings.fault(
      `\`${place}.${key}\` must be a ${isCount ? "whole number from 0" : "number"}, got ${JSON.stringify(value)}`,
    );
  if (key === "max" && typeof raw["min"] === "number" && raw["min"] > value)
    return findings.fault(`\`${place}.min\` is above \`max\``);
  schema[bounds[index]] = value;
}

function addPattern(schema: JsonObject, pattern: unknown, type: string, findings: Findings, place: string): void {
  if (type !== "string") return findings.fault(`\`${place}.pattern\` has a meaning for strings only`);
  if (typeof pattern !== "string" || !isPattern(pattern))
    return findings.fault(`\`${place}.pattern\` is no regular expression: ${JSON.stringify(pattern)}`);
  schema["pattern"] = pattern;
}

function isPattern(text: string): boolean {
  try {
    return RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function addDefault(schema: JsonObject, value: unknown, findings: Findings, place: string): void {
  const choices = schema["enum"];
  if (!hasType(value, schema["type"]))
    return findings.fault(`\`${place}.default\` is ${JSON.stringify(value)}, which is no ${String(schema["type"])}`);
  if (Array.isArray(choices) && !choices.includes(value))
    return findings.fault(`\`${place}.default\` is not among the values of \`enum\``);
  const problem = boundsProblem(value, schema);
  if (problem !== undefined) return findings.fault(`\`${place}.default\` ${problem}`);
  schema["default"] = value;
}

/** What of the parameter's own rules a default breaks. */
function boundsProblem(value: unknown, schema: JsonObject): string | undefined {
  const size =
    typeof value === "number"
      ? value
      : typeof value === "string"
        ? Array.from(value).length
        : Array.isArray(value)
          ? value.length
          : 0;
  const {
    minimum,
    maximum,
    minLength = minimum,
    maxLength = maximum,
    minItems = minLength,
    maxItems = maxLength,
    pattern,
    items,
  } = schema;
  if (size < ((minItems as number | undefined) ?? -Infinity) || size > ((maxItems as number | undefined) ?? Infinity))
    return "is outside `min` and `max`";
  if (typeof pattern === "string" && typeof value === "string" && !RegExp(pattern, "u").test(value))
    return "does not match `pattern`";
  if (!Array.isArray(value) || !isJsonObject(items)) return undefined;
  const wrong = value.find((item: unknown) => !hasType(item, items["type"]));
  return wrong === undefined ? undefined : `holds ${JSON.stringify(wrong)}, which is no ${String(items["type"])}`;
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  return typeof value === type && (typeof value !== "number" || Number.isFinite(value));
}
