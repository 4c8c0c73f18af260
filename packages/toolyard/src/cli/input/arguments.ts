import { parseExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { isDeeperThan } from "../../core/json/json-depth.ts";
import { MAX_JSON_DEPTH } from "../../core/json/json-size.ts";
import { messageOf } from "../../core/errors.ts";
import { UsageError } from "../failure.ts";
import type { Io } from "../output/io.ts";

/**
 * Reads a tool's arguments from the command line: one JSON object, `-` for JSON on standard input, or `key=value`
 * pairs. A pair's value is a string unless the schema requires another type; `key:=json` takes any JSON value.
 */
export async function readArguments(words: readonly string[], io: Io): Promise<JsonObject> {
  const [first] = words;
  if (first === undefined) return {};
  if (words.length === 1 && first === "-") return parseObject(await io.readStdin(), "standard input");
  if (words.length === 1 && first.trimStart().startsWith("{")) return parseObject(first, "the arguments");
  const pairs = words.map(readPair);
  const twice = pairs.find(([key], index) => pairs.findIndex(([other]) => other === key) < index);
  if (twice)
    throw new UsageError(`The argument ${twice[0]} is given twice. For a list write ${twice[0]}:='["a","b"]'.`);
  return Object.fromEntries(pairs);
}

function parseObject(text: string, where: string): JsonObject {
  let value: unknown;
  assertShallow(text, where);
  try {
    value = parseExact(text);
  } catch (error) {
    throw new UsageError(
      `${where} must be a JSON object: ${messageOf(error)}. In a shell, put it in single quotes: '{"key":"value"}'.`,
    );
  }
  if (isJsonObject(value)) return value;
  throw new UsageError(
    `${where} must be a JSON object such as {"key":"value"}, got ${Array.isArray(value) ? "a list" : typeof value}.`,
  );
}

function readPair(word: string): [string, unknown] {
  const raw = /^([^=:]+):=([\s\S]*)$/.exec(word);
  if (raw) return [raw[1]!, parseValue(raw[1]!, raw[2]!)];
  const equals = word.indexOf("=");
  if (equals > 0) return [word.slice(0, equals), word.slice(equals + 1)];
  throw new UsageError(
    `"${word}" is no argument. Give JSON ('{"key":"value"}'), pairs (key=value, or key:=json for any JSON), ` +
      "or - for standard input.",
  );
}

/** Throws if JSON is nested too deeply, because code that walks arguments later recurses once per level. */
function assertShallow(text: string, where: string): void {
  if (isDeeperThan(text, MAX_JSON_DEPTH))
    throw new UsageError(`${where} must not be nested deeper than ${MAX_JSON_DEPTH} levels.`);
}

function parseValue(key: string, text: string): unknown {
  assertShallow(text, `The value of ${key}:=`);
  try {
    return parseExact(text);
  } catch {
    throw new UsageError(`The value of ${key}:= must be JSON, got "${text}". Write ${key}=${text} for a string.`);
  }
}

/** Converts the strings of `key=value` pairs to the schema's types where that is unambiguous. */
export function fitToSchema(args: JsonObject, schema: unknown): JsonObject {
  const properties = isJsonObject(schema) && isJsonObject(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, fitValue(value, properties[key])]));
}

function fitValue(value: unknown, schema: unknown): unknown {
  if (typeof value !== "string" || !isJsonObject(schema)) return value;
  const types = Array.isArray(schema["type"]) ? schema["type"] : [schema["type"]];
  if (types.includes("string") || types.every((type) => type === undefined)) return value;
  if (isDeeperThan(value, MAX_JSON_DEPTH)) return value;
  try {
    return parseExact(value);
  } catch {
    return value;
  }
}
