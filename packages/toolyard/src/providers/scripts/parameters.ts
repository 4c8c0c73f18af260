import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { nearest } from "../../core/text/suggest.ts";
import type { Findings } from "../tool-folders/findings.ts";

const TYPES: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "integer",
  boolean: "boolean",
  object: "object",
  array: "array",
  // Short names of types, which tools for other servers use.
  str: "string",
  int: "integer",
  float: "number",
  bool: "boolean",
};
const KEYS = ["name", "type", "description", "required", "default", "enum", "min", "max", "pattern", "properties"];
const MAX_DEPTH = 8;

/** JSON Schema keywords for the limits `min` and `max`, by type. */
const BOUNDS: Readonly<Record<string, { readonly min: string; readonly max: string }>> = {
  number: { min: "minimum", max: "maximum" },
  integer: { min: "minimum", max: "maximum" },
  string: { min: "minLength", max: "maxLength" },
  array: { min: "minItems", max: "maxItems" },
};

/**
 * Returns the JSON Schema of a tool's arguments, from `[parameters.x]` tables or a `[[parameters]]` list. Anything
 * invalid is a fault, so the tool is not offered: a guess could accept wrong arguments.
 */
export function parseParameters(raw: unknown, findings: Findings): JsonObject {
  return parametersSchema(raw, { findings, path: "parameters", depth: 0 });
}

/** Position of a table or a parameter in the manifest, and the receiver of its faults. */
interface ParameterPlace {
  readonly findings: Findings;
  readonly path: string;
  readonly depth: number;
}

function parametersSchema(raw: unknown, place: ParameterPlace): JsonObject {
  const { findings, path } = place;
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, parameter] of entriesOf(raw, place)) {
    const own = { ...place, path: `${path}.${name}` };
    if (Object.hasOwn(properties, name)) findings.fault(`parameter \`${name}\` is there twice; keep one`);
    // Defined, not assigned, because a parameter may be named `__proto__`, which an assignment would lose.
    Object.defineProperty(properties, name, {
      value: new ScriptParameter(parameter, own).read(),
      enumerable: true,
      configurable: true,
      writable: true,
    });
    if (parameter["required"] === true) required.push(name);
    else if (parameter["required"] !== undefined && parameter["required"] !== false)
      findings.fault(`\`${own.path}.required\` must be true or false`);
  }
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

function entriesOf(raw: unknown, { findings, path }: ParameterPlace): (readonly [string, JsonObject])[] {
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

function listEntry(entry: unknown, findings: Findings, path: string): (readonly [string, JsonObject])[] {
  if (isJsonObject(entry) && typeof entry["name"] === "string" && entry["name"] !== "") return [[entry["name"], entry]];
  findings.fault(`\`${path}\` needs a \`name\``);
  return [];
}

/** One parameter of a manifest, and its schema. */
class ScriptParameter {
  readonly #raw: JsonObject;
  readonly #place: ParameterPlace;
  readonly #schema: JsonObject;

  constructor(raw: JsonObject, place: ParameterPlace) {
    this.#raw = raw;
    this.#place = place;
    place.findings.noteUnknownKeys(raw, KEYS, place.path);
    this.#schema = typeSchema(raw["type"], place);
  }

  read(): JsonObject {
    const { description, properties, enum: choices, pattern, default: preset } = this.#raw;
    if (description !== undefined) this.#addDescription(description);
    if (properties !== undefined) this.#addProperties(properties);
    if (choices !== undefined) this.#addEnum(choices);
    this.#addBound("min");
    this.#addBound("max");
    if (pattern !== undefined) this.#addPattern(pattern);
    if (preset !== undefined) this.#addDefault(preset);
    return this.#schema;
  }

  get #type(): string {
    return String(this.#schema["type"]);
  }

  #addDescription(text: unknown): void {
    if (typeof text === "string") this.#schema["description"] = text;
    else this.#fault("description", "must be a text");
  }

  #addProperties(raw: unknown): void {
    const { path, depth } = this.#place;
    const tooDeep = depth >= MAX_DEPTH ? ` and less than ${MAX_DEPTH} levels` : "";
    if (this.#type !== "object" || tooDeep !== "")
      return this.#fault("properties", `needs \`type = "object"\`${tooDeep}`);
    const inner = { ...this.#place, path: `${path}.properties`, depth: depth + 1 };
    Object.assign(this.#schema, parametersSchema(raw, inner));
  }

  #addEnum(choices: unknown): void {
    if (!Array.isArray(choices) || choices.length === 0) return this.#fault("enum", "must be a list of values");
    const wrong = choices.find((value: unknown) => !hasType(value, this.#schema["type"]));
    if (wrong !== undefined) return this.#fault("enum", `holds ${JSON.stringify(wrong)}, which is no ${this.#type}`);
    this.#schema["enum"] = choices;
  }

  #addBound(key: "min" | "max"): void {
    const { [key]: value, min } = this.#raw;
    if (value === undefined) return;
    const names = BOUNDS[this.#type];
    if (!names) return this.#fault(key, `has no meaning for ${this.#type}`);
    const isCount = this.#type === "string" || this.#type === "array";
    if (!isBound(value, isCount))
      return this.#fault(key, `must be a ${isCount ? "whole number from 0" : "number"}, got ${JSON.stringify(value)}`);
    if (key === "max" && typeof min === "number" && min > value) return this.#fault("min", "is above `max`");
    this.#schema[names[key]] = value;
  }

  #addPattern(pattern: unknown): void {
    if (this.#type !== "string") return this.#fault("pattern", "has a meaning for strings only");
    if (typeof pattern !== "string" || !isPattern(pattern))
      return this.#fault("pattern", `is no regular expression: ${JSON.stringify(pattern)}`);
    this.#schema["pattern"] = pattern;
  }

  #addDefault(value: unknown): void {
    const choices = this.#schema["enum"];
    if (!hasType(value, this.#schema["type"]))
      return this.#fault("default", `is ${JSON.stringify(value)}, which is no ${this.#type}`);
    if (Array.isArray(choices) && !choices.includes(value))
      return this.#fault("default", "is not among the values of `enum`");
    const problem = boundsProblem(value, this.#schema);
    if (problem !== undefined) return this.#fault("default", problem);
    this.#schema["default"] = value;
  }

  #fault(key: string, problem: string): void {
    const { findings, path } = this.#place;
    findings.fault(`\`${path}.${key}\` ${problem}`);
  }
}

/** Converts a type name: `string`, `array`, `array:integer`, `array:array:string`. */
function typeSchema(type: unknown, place: ParameterPlace): JsonObject {
  const { findings, path } = place;
  if (type === undefined) {
    findings.fault(`\`${path}\` has no \`type\`; say one of ${accepted()}`);
    return {};
  }
  const words = typeof type === "string" ? type.split(":") : [];
  const [first = "", ...rest] = words;
  const name = Object.hasOwn(TYPES, first) ? TYPES[first] : undefined;
  if (name === undefined || words.length > MAX_DEPTH || (rest.length > 0 && name !== "array")) {
    const [near] = nearest(first, Object.keys(TYPES), 1);
    findings.fault(
      `\`${path}.type\` is ${JSON.stringify(type)}; ` +
        `${near === undefined ? "" : `did you mean "${near}"? `}accepted are ${accepted()}`,
    );
    return {};
  }
  return rest.length > 0 ? { type: name, items: typeSchema(rest.join(":"), place) } : { type: name };
}

function accepted(): string {
  return "string, number, integer, boolean, object, array and array:<type>";
}

function isBound(value: unknown, isCount: boolean): value is number {
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  return !isCount || (Number.isInteger(value) && value >= 0);
}

function isPattern(text: string): boolean {
  try {
    return RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Returns which rule of the parameter a default violates; undefined if it violates none. */
function boundsProblem(value: unknown, schema: JsonObject): string | undefined {
  const { pattern, items } = schema;
  if (!isWithinBounds(sizeOf(value), schema)) return "is outside `min` and `max`";
  if (typeof pattern === "string" && typeof value === "string" && !RegExp(pattern, "u").test(value))
    return "does not match `pattern`";
  if (!Array.isArray(value) || !isJsonObject(items)) return undefined;
  const wrong = value.find((item: unknown) => !hasType(item, items["type"]));
  return wrong === undefined ? undefined : `holds ${JSON.stringify(wrong)}, which is no ${String(items["type"])}`;
}

/** Returns the number that `min` and `max` limit: the value itself, its characters, or its items. */
function sizeOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "string") return Array.from(value).length;
  return Array.isArray(value) ? value.length : 0;
}

function isWithinBounds(size: number, schema: JsonObject): boolean {
  const { min, max } = BOUNDS[String(schema["type"])] ?? {};
  const least = min === undefined ? undefined : (schema[min] as number | undefined);
  const most = max === undefined ? undefined : (schema[max] as number | undefined);
  return size >= (least ?? -Infinity) && size <= (most ?? Infinity);
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  return typeof value === type && (typeof value !== "number" || Number.isFinite(value));
}
