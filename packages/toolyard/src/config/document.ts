import { dirname, extname, resolve } from "node:path";
import type { ParseError, visit as Visit } from "jsonc-parser";
import { ConfigError, messageOf } from "../core/errors.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { isValueDeeperThan } from "../core/json/value-depth.ts";
import { readText } from "../files/read-text.ts";
import { refuseInheritedKeys } from "./inherited-keys.ts";

/** A parsed configuration file. The tree uses the keys of `toolyard.toml`, for every file format. */
export interface ConfigDocument {
  readonly path: string;
  readonly folder: string;
  readonly tree: JsonObject;
  readonly warnings: readonly string[];
}

/** Maximum size of a configuration file, which is written by hand. A larger file is another kind of file. */
const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

/** Byte order mark, which Windows editors write at the start of a text. */
export const BYTE_ORDER_MARK = /^\uFEFF/;

/** A parsed TOML or JSON file, with the keys as they are in the file. */
export interface RawDocument {
  readonly path: string;
  readonly folder: string;
  readonly form: "toml" | "json";
  readonly tree: JsonObject;
}

/**
 * Reads `toolyard.toml`, or the JSON server file of a desktop client or editor. A draft is read instead of the file's
 * text. Throws a `ConfigError` that names file and line.
 */
export async function readDocument(file: string, draft?: string): Promise<ConfigDocument> {
  const { path, folder, form, tree } = await readTree(file, draft);
  if (form === "toml") return { path, folder, tree, warnings: [] };
  const { convertServers, serverTable } = await import("./mcp-json.ts");
  const table = serverTable(tree);
  // A JSON file with the keys of toolyard.toml is accepted too.
  if (table === undefined || isOwnShape(tree)) return { path, folder, tree, warnings: [] };
  const { warnings, ...mcp } = convertServers(table);
  return { path, folder, tree: { mcp }, warnings: warnings.map((warning) => `${file}: ${warning}`) };
}

/**
 * Returns whether the servers use the keys of `toolyard.toml`. An editor's settings also have a table `mcp`, with other
 * keys in it.
 */
function isOwnShape({ mcp }: JsonObject): boolean {
  return isJsonObject(mcp) && ("stdio_servers" in mcp || "remote_servers" in mcp || !("servers" in mcp));
}

/** Reads a file of either form, or a draft of its text. Throws a `ConfigError` that names file and line. */
export async function readTree(file: string, draft?: string): Promise<RawDocument> {
  const path = resolve(file);
  const text = draft ?? (await textOf(path, file));
  if (text.length > MAX_CONFIG_BYTES)
    throw new ConfigError([`${file}: over ${MAX_CONFIG_BYTES} bytes, which is too large for a configuration file.`]);
  const isJson = [".json", ".jsonc", ".json5"].includes(extname(path).toLowerCase()) || /^\s*\{/.test(text);
  const tree = await (isJson ? parseJson(file, text) : parseToml(file, text));
  refuseInheritedKeys(tree, file);
  return { path, folder: dirname(path), form: isJson ? "json" : "toml", tree };
}

async function textOf(path: string, name: string): Promise<string> {
  try {
    return await readText(path, { maxBytes: MAX_CONFIG_BYTES });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code ?? messageOf(error)})`;
    throw new ConfigError([`${name}: ${reason}. Write one with \`toolyard init\`, or name another with --config.`], {
      cause: error,
    });
  }
}

/** Parses TOML. Throws a `ConfigError` that names the position. `name` names the text in messages. */
export async function parseToml(name: string, text: string): Promise<JsonObject> {
  const { parse } = await import("smol-toml");
  try {
    return shallow(name, parse(text) as JsonObject);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof RangeError) throw tooDeep(name, error);
    throw new ConfigError([`${name}${placeIn(error)}: ${messageOf(error).split("\n", 1)[0]}`], { cause: error });
  }
}

// Returns the position of an error. The parser's message is not used, because it quotes the line, which may contain a
// secret.
function placeIn(error: unknown): string {
  const { line, column } = error as { line?: number; column?: number };
  return line === undefined ? "" : `:${line}:${column}`;
}

/** Parses JSON with comments. Throws a `ConfigError` that names the position. `name` names the text in messages. */
export async function parseJson(name: string, given: string): Promise<JsonObject> {
  const { parse, visit, printParseErrorCode } = await import("jsonc-parser");
  const text = given.replace(BYTE_ORDER_MARK, "");
  const errors: ParseError[] = [];
  const tree = shallow(
    name,
    withinStack(name, () => parse(text, errors, { allowTrailingComma: true }) as unknown),
  );
  const [first] = errors;
  if (first)
    throw new ConfigError([
      `${name}:${lineOf(text, first.offset)}: not valid JSON (${printParseErrorCode(first.error)}).`,
    ]);
  if (!isJsonObject(tree)) throw new ConfigError([`${name}: must contain a JSON object.`]);
  const twice = duplicateKey(visit, text);
  if (twice) throw new ConfigError([`${name}:${twice.line}: the key "${twice.key}" occurs twice; rename one.`]);
  return tree;
}

/** Maximum nesting depth. Code that walks a tree later recurses once per level. */
const MAX_DEPTH = 100;

/** Throws a `ConfigError` if a value is nested deeper than `MAX_DEPTH`. `name` names its text in messages. */
function shallow<T>(name: string, value: T): T {
  if (isValueDeeperThan(value, MAX_DEPTH)) throw tooDeep(name);
  return value;
}

/** Runs a parser. Parsers recurse once per level, so parsing may exhaust the stack. */
function withinStack<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(name, error) : error;
  }
}

function tooDeep(name: string, cause?: unknown): ConfigError {
  return new ConfigError(
    [`${name}: values nest deeper than ${MAX_DEPTH} levels, which is too deep for a configuration file.`],
    {
      cause,
    },
  );
}

function duplicateKey(visit: typeof Visit, text: string): { key: string; line: number } | undefined {
  const open: Set<string>[] = [];
  let found: { key: string; line: number } | undefined;
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty: (key, offset) => {
      const keys = open.at(-1);
      if (keys?.has(key)) found ??= { key, line: lineOf(text, offset) };
      keys?.add(key);
    },
  });
  return found;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
