import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, listMember, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { safeToShow } from "../../core/text/hidden-text.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { localTarget } from "../../schema/local-target.ts";
import { colorsOf } from "./colors.ts";
import { exampleWords, parameterOf } from "./example-call.ts";
import type { Io } from "./io.ts";
import { plainLine, table } from "./table.ts";
import { wrapWords } from "./wrap.ts";

export interface ToolTextOptions {
  readonly io: Pick<Io, "width" | "color">;
  /** Flags of the example call, such as `--url …`. */
  readonly flags: readonly string[];
}

/** Width if standard output is not a terminal. */
const PIPED_COLUMNS = 100;

/** Formats a tool's definition for users: description, table of parameters, and a command that calls it. */
export function toolText(entry: JsonObject, { io, flags }: ToolTextOptions): string {
  const { bold, dim } = colorsOf(io);
  const name = plainLine(String(entry["name"]));
  const title = plainLine(stringMember(entry, "title") ?? "");
  const facts = annotationText(objectMember(entry, "annotations") ?? {});
  const schema = objectMember(entry, "inputSchema") ?? {};
  return [
    title === "" || title === name ? bold(name) : `${bold(name)}  ${title}`,
    ...(facts === "" ? [] : [dim(facts)]),
    ...paragraphs(stringMember(entry, "description") ?? "", io),
    "",
    parameterText(schema, io),
    "",
    dim("# an example"),
    exampleCall(name, schema, flags),
  ].join("\n");
}

/** Keeps the line breaks of a description, and wraps its lines. */
function paragraphs(text: string, { width = PIPED_COLUMNS }: Pick<Io, "width">): readonly string[] {
  const lines = safeToShow(text.trim()).split(/\r?\n/);
  return lines[0] === "" ? [] : lines.flatMap((line) => wrapLine(line.trimEnd(), width));
}

/** Continues a wrapped line with its own indentation, as in a list. */
function wrapLine(line: string, width: number): readonly string[] {
  const indent = /^\s*/.exec(line)![0].replaceAll("\t", "  ");
  const room = Math.max(1, width - indent.length);
  return wrapWords(line.trim().replaceAll(/\s+/g, " "), { width: room, splitsWords: false }).map((one) =>
    (indent + one).trimEnd(),
  );
}

const ANNOTATIONS: readonly (readonly [key: string, value: boolean, text: string])[] = [
  ["readOnlyHint", true, "changes nothing"],
  ["readOnlyHint", false, "may change things"],
  ["destructiveHint", true, "may delete or overwrite"],
  ["idempotentHint", true, "can be repeated"],
  ["openWorldHint", true, "uses the network or other systems"],
];

function annotationText(annotations: JsonObject): string {
  return ANNOTATIONS.flatMap(([key, value, text]) => (annotations[key] === value ? [text] : [])).join(", ");
}

function parameterText(schema: JsonObject, io: Pick<Io, "width" | "color">): string {
  const properties = Object.entries(objectMember(schema, "properties") ?? {});
  if (properties.length === 0) return "It has no parameters.";
  const required = new Set(listMember(schema, "required"));
  const rows = properties.map(([name]) => {
    const own = parameterOf(schema, name);
    return [name, typeText(own, schema), required.has(name) ? "required" : defaultText(own), descriptionText(own)];
  });
  return table(["parameter", "type", "default", "description"], rows, io);
}

function resolved(property: unknown, root: JsonObject): JsonObject {
  if (!isJsonObject(property)) return {};
  if (typeof property["$ref"] !== "string") return property;
  return { ...localTarget(property["$ref"], root), ...property };
}

const MAX_TYPE_DEPTH = 3;
const MAX_CHOICES = 12;

/** Returns a type in a few words: `string`, `list of integer`, `"a" or "b"`. */
function typeText(schema: JsonObject, root: JsonObject, depth = 0): string {
  const choices = listMember(schema, "enum");
  if (choices.length > 0) return choicesText(choices);
  if (schema["const"] !== undefined) return stringifyExact(schema["const"]) ?? "";
  const branches = [...listMember(schema, "anyOf"), ...listMember(schema, "oneOf")];
  const inner = (value: unknown): string => typeText(resolved(value, root), root, depth + 1);
  if (schema["type"] === undefined && branches.length > 0 && depth < MAX_TYPE_DEPTH)
    return Array.from(new Set(branches.map(inner))).join(" or ");
  const types = Array.isArray(schema["type"]) ? schema["type"].map(String) : [String(schema["type"] ?? "any")];
  return types
    .map((type) =>
      type === "array" && schema["items"] !== undefined && depth < MAX_TYPE_DEPTH
        ? `list of ${inner(schema["items"])}`
        : type,
    )
    .join(" or ");
}

function choicesText(choices: readonly unknown[]): string {
  const shown = choices.slice(0, MAX_CHOICES).map((choice) => stringifyExact(choice) ?? "");
  return [...shown, ...(choices.length > MAX_CHOICES ? ["…"] : [])].join(" or ");
}

function defaultText(schema: JsonObject): string {
  return schema["default"] === undefined ? "" : (stringifyExact(schema["default"]) ?? "");
}

const LIMITS: Readonly<Record<string, (limit: string) => string>> = {
  minimum: (limit) => `at least ${limit}`,
  exclusiveMinimum: (limit) => `above ${limit}`,
  maximum: (limit) => `at most ${limit}`,
  exclusiveMaximum: (limit) => `below ${limit}`,
  minLength: (limit) => `length at least ${limit}`,
  maxLength: (limit) => `length at most ${limit}`,
  minItems: (limit) => `at least ${limit} items`,
  maxItems: (limit) => `at most ${limit} items`,
  pattern: (limit) => `must match ${limit}`,
};

function descriptionText(schema: JsonObject): string {
  const limits = Object.entries(LIMITS).flatMap(([key, text]) =>
    schema[key] === undefined ? [] : [text(String(schema[key]))],
  );
  const description = stringMember(schema, "description") ?? stringMember(schema, "title") ?? "";
  return [description, ...(limits.length === 0 ? [] : [`(${limits.join(", ")})`])]
    .filter((part) => part !== "")
    .join(" ");
}

/** Returns a command that calls the tool with example values for its required parameters. */
function exampleCall(name: string, schema: JsonObject, flags: readonly string[]): string {
  const words = ["toolyard", "call", name, ...exampleWords(schema), ...flags];
  return safeToShow(words.map((word) => shellWord(word)).join(" "));
}
