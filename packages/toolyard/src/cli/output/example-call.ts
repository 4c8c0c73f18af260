import { stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import { localTarget } from "../../schema/local-target.ts";
import { sampleOf } from "../../schema/sample.ts";

/** A tool that an example may call. */
export interface ExampleTool {
  /** Definition in its protocol form. */
  readonly entry: JsonObject;
  /** True if the tool is on this machine and starts no server. */
  readonly isLocal: boolean;
}

/** Returns arguments for a first call of a tool: its required parameters. Numbers differ from each other. */
export function exampleArguments(schema: JsonObject): JsonObject {
  const sample = sampleOf(schema, schema);
  if (!isJsonObject(sample)) return {};
  const free = Object.keys(sample).filter((name) => isFreeNumber(parameterOf(schema, name)));
  if (free.length < 2) return sample;
  return { ...sample, ...Object.fromEntries(free.map((name, at) => [name, at + 2])) };
}

/** Returns the words after the tool's name: `key=value`, `key:=json`, or one JSON object. */
export function exampleWords(schema: JsonObject): readonly string[] {
  const args = exampleArguments(schema);
  const arePairs = Object.keys(args).every((key) => /^[^=:\s-][^=:\s]*$/.test(key));
  if (!arePairs) return [stringifyExact(args) ?? "{}"];
  return Object.entries(args).map(([key, value]) => pair(key, value, parameterOf(schema, key)));
}

/** Matches names of tools that probably have outside effects, so that an example does not suggest them. */
const LASTING =
  /(?:^|[._-])(?:delete|remove|drop|send|write|create|update|set|kill|stop|wait|move|pay|post)(?:[._-]|$)/i;
const MAX_ARGUMENTS = 4;

/**
 * Chooses the easiest tool for an example: local, harmless, and with specific arguments. Returns `undefined` if no tool
 * is suitable.
 */
export function chooseExample(tools: readonly ExampleTool[]): JsonObject | undefined {
  const suitable = tools.filter(({ entry }) => isSuitable(entry));
  const best = suitable.reduce<ExampleTool | undefined>(
    (chosen, tool) => (chosen === undefined || scoreOf(tool) > scoreOf(chosen) ? tool : chosen),
    undefined,
  );
  return best?.entry;
}

function isSuitable(entry: JsonObject): boolean {
  const { readOnlyHint, destructiveHint } = objectMember(entry, "annotations") ?? {};
  if (readOnlyHint === false || destructiveHint === true || LASTING.test(String(entry["name"]))) return false;
  const values = Object.values(exampleArguments(objectMember(entry, "inputSchema") ?? {}));
  return values.length <= MAX_ARGUMENTS && values.every((value) => typeof value !== "object" && value !== "…");
}

function scoreOf({ entry, isLocal }: ExampleTool): number {
  const schema = objectMember(entry, "inputSchema") ?? {};
  const names = Object.keys(exampleArguments(schema));
  const speaking = names.filter((name) => isSpeaking(parameterOf(schema, name))).length;
  const isReadOnly = objectMember(entry, "annotations")?.["readOnlyHint"] === true;
  return (isLocal ? 100 : 0) + (speaking === names.length ? 10 * speaking : 0) + (isReadOnly ? 1 : 0);
}

/**
 * Returns whether the schema provides a meaningful example value. Any other string parameter would get the value
 * "text".
 */
function isSpeaking(parameter: JsonObject): boolean {
  const isGiven = ["enum", "examples", "default", "const"].some((key) => parameter[key] !== undefined);
  return isGiven || parameter["type"] !== "string";
}

function isFreeNumber(parameter: JsonObject): boolean {
  const { type, minimum, maximum } = parameter;
  const isGiven = ["enum", "examples", "default", "const", "example"].some((key) => parameter[key] !== undefined);
  return (type === "number" || type === "integer") && !isGiven && minimum === undefined && maximum === undefined;
}

/** Returns the schema of one parameter, with its reference resolved. */
export function parameterOf(root: JsonObject, name: string): JsonObject {
  const property = (objectMember(root, "properties") ?? {})[name];
  if (!isJsonObject(property)) return {};
  if (typeof property["$ref"] !== "string") return property;
  return { ...localTarget(property["$ref"], root), ...property };
}

/** Returns one argument: `key=value` if it converts to the only type of the parameter; otherwise `key:=json`. */
function pair(key: string, value: unknown, { type }: JsonObject): string {
  const isText = typeof value === "string" && (type === undefined || type === "string");
  const isPlain = ["integer", "number", "boolean"].includes(String(type));
  return isText || isPlain ? `${key}=${String(value)}` : `${key}:=${stringifyExact(value)}`;
}
