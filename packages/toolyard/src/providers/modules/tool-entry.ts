import { parseDuration } from "../../core/text/duration.ts";
import { OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Visibility } from "../../core/sources/listing-shape.ts";
import type { ToolLimits } from "../../core/sources/records.ts";
import { nearest } from "../../core/text/suggest.ts";
import { normaliseInputSchema } from "../../schema/normalise.ts";
import type { ToolHandler } from "./api.ts";
import { type LibrarySchema, type Parse, readLibrarySchema } from "./schema-library.ts";

/** A registered tool after validation, in one form for both forms of `registerTool`. */
export interface ToolEntry {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly keywords: readonly string[];
  readonly visibility?: Visibility;
  readonly limits?: ToolLimits;
  readonly aliases: readonly string[];
  readonly definition: JsonObject;
  readonly handler: ToolHandler;
  /** Parses arguments that match the JSON Schema with the library of the original schema. */
  readonly parse?: Parse;
  /** Message about a fault of the schema that tells the user how to fix it. */
  readonly warning?: string;
}

/** Option names by their other spellings. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ["output_schema", "outputSchema"],
  ["total_timeout", "totalTimeout"],
  ["max_concurrent", "maxConcurrent"],
  ["max_result_bytes", "maxResultBytes"],
  ["inputSchema", "schema"],
  ["input_schema", "schema"],
  ["func", "handler"],
  ["meta", "_meta"],
]);
const OPTIONS = [
  "title",
  "outputSchema",
  "annotations",
  "icons",
  "keywords",
  "visibility",
  "timeout",
  "totalTimeout",
  "maxConcurrent",
  "maxResultBytes",
  "aliases",
  "_meta",
];
const MEMBERS = ["name", "handler", "schema", "description", ...OPTIONS];

/**
 * Reads the arguments of `registerTool` in either form. Throws an `OptionError` that names the tool and the member.
 */
export function readToolEntry(args: readonly unknown[]): ToolEntry {
  const [first] = args;
  if (isJsonObject(first)) return toEntry(readMembers(first, MEMBERS, String(first["name"])));
  const [name, handler, schema = {}, description = "", options = {}] = args;
  if (!isJsonObject(options))
    throw new OptionError(`Tool \`${String(name)}\`: the options must be an object, got ${kindOf(options)}.`);
  return toEntry({ ...readMembers(options, OPTIONS, String(name)), name, handler, schema, description });
}

function toEntry(members: JsonObject): ToolEntry {
  const { name, description, handler, visibility } = readBasics(members);
  const { schema = {}, outputSchema } = members;
  const given = readSchema(schema, name, "schema");
  const input = normaliseInputSchema(given.schema);
  const output =
    outputSchema === undefined ? {} : { outputSchema: readSchema(outputSchema, name, "outputSchema").schema };
  const limits = readLimits(members, name);
  return {
    name,
    description,
    inputSchema: input.schema,
    ...output,
    keywords: strings(members["keywords"], name, "keywords"),
    ...(visibility ? { visibility } : {}),
    ...(limits ? { limits } : {}),
    aliases: strings(members["aliases"], name, "aliases"),
    definition: {
      name,
      ...pick(members, ["title"]),
      description,
      inputSchema: input.schema,
      ...output,
      ...pick(members, ["annotations", "icons", "_meta"]),
    },
    handler,
    ...(given.parse ? { parse: given.parse } : {}),
    ...(input.warning === undefined ? {} : { warning: input.warning }),
  };
}

type Basics = Pick<ToolEntry, "name" | "description" | "handler" | "visibility">;

function readBasics({ name, handler, description = "", visibility }: JsonObject): Basics {
  if (typeof name !== "string" || name === "") throw new OptionError(`A tool needs a name, got ${kindOf(name)}.`);
  if (typeof handler !== "function")
    throw new OptionError(`Tool \`${name}\`: the handler must be a function, got ${kindOf(handler)}.`);
  if (typeof description !== "string")
    throw new OptionError(`Tool \`${name}\`: the description must be a string, got ${kindOf(description)}.`);
  if (visibility !== undefined && visibility !== "native" && visibility !== "ondemand") {
    throw new OptionError(
      `Tool \`${name}\`: \`visibility\` must be "native" or "ondemand", got ${JSON.stringify(visibility)}.`,
    );
  }
  return { name, description, handler: handler as ToolHandler, ...(visibility && { visibility }) };
}

function readMembers(given: JsonObject, known: readonly string[], tool: string): JsonObject {
  const members: JsonObject = {};
  for (const [key, value] of Object.entries(given)) {
    const member = SPELLINGS.get(key) ?? key;
    if (!known.includes(member)) throw new OptionError(unknownOption(tool, key, known));
    if (value !== undefined) members[member] = value;
  }
  return members;
}

function unknownOption(tool: string, key: string, known: readonly string[]): string {
  const near = nearest(key, known, 1)[0];
  const advice = near === undefined ? "." : `; did you mean \`${near}\`?`;
  return `Tool \`${tool}\`: \`${key}\` is not an option${advice} Known are ${known.join(", ")}.`;
}

/**
 * Removes unknown options and reports each. Unknown options are no error, because modules written for other servers use
 * further keywords, such as `module`, and must run unchanged.
 */
export function knownOptions(
  options: unknown,
  tool: string,
  onUnknown: (message: string) => void,
): JsonObject | undefined {
  if (!isJsonObject(options)) return undefined;
  const isKnown = (key: string): boolean => OPTIONS.includes(SPELLINGS.get(key) ?? key);
  for (const key of Object.keys(options))
    if (!isKnown(key)) onUnknown(`${unknownOption(tool, key, OPTIONS)} It was ignored.`);
  return Object.fromEntries(Object.entries(options).filter(([key]) => isKnown(key)));
}

function readLimits(members: JsonObject, tool: string): ToolLimits | undefined {
  const limits = {
    ...duration(members["timeout"], "timeoutMs", tool),
    ...duration(members["totalTimeout"], "totalTimeoutMs", tool),
    ...count(members["maxConcurrent"], "maxConcurrent", tool),
    ...count(members["maxResultBytes"], "maxResultBytes", tool),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function duration(value: unknown, key: keyof ToolLimits, tool: string): ToolLimits {
  if (value === undefined) return {};
  if (typeof value !== "number" && typeof value !== "string")
    throw new OptionError(`Tool \`${tool}\`: a timeout must be milliseconds or "30s", got ${kindOf(value)}.`);
  return { [key]: parseDuration(value, `timeout of ${tool}`) };
}

function count(value: unknown, key: keyof ToolLimits, tool: string): ToolLimits {
  if (value === undefined) return {};
  if (typeof value === "number" && Number.isInteger(value) && value > 0) return { [key]: value };
  throw new OptionError(`Tool \`${tool}\`: \`${key}\` must be a whole number above 0, got ${JSON.stringify(value)}.`);
}

function strings(value: unknown, tool: string, key: string): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return [...value];
  throw new OptionError(`Tool \`${tool}\`: \`${key}\` must be a list of strings, got ${kindOf(value)}.`);
}

function readSchema(value: unknown, tool: string, key: string): LibrarySchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || Array.isArray(value)) {
    throw new OptionError(`Tool \`${tool}\`: \`${key}\` must be a JSON Schema object, got ${kindOf(value)}.`);
  }
  return readLibrarySchema(value, `Tool \`${tool}\`: \`${key}\``) ?? { schema: value as JsonObject };
}

function pick(members: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (members[key] === undefined ? [] : [[key, members[key]]])));
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `${typeof value === "object" ? "an object" : typeof value}`;
}
