import { isJsonObject, type JsonObject } from "../core/json/json.ts";

/** Server files of desktop clients and editors, converted to the keys of `toolyard.toml`. */
export interface ConvertedServers {
  readonly stdio_servers: JsonObject;
  readonly remote_servers: readonly JsonObject[];
  readonly warnings: readonly string[];
}

/** Keys of an entry that `convertServers` reads. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "serverUrl",
  "httpUrl",
  "type",
  "headers",
  "disabled",
  "timeout",
  // Zed writes this key for servers that were not installed by an extension.
  "source",
]);
/**
 * Values of `timeout` below this limit count as seconds, because half of the clients use seconds. Larger values count
 * as milliseconds.
 */
const SECONDS_BELOW = 1000;

/**
 * Returns the servers in a parsed JSON file, from the first known key: `mcpServers` (desktop clients), `servers` (VS
 * Code), `context_servers` or `mcp_servers`. Returns undefined if the file has none of these keys.
 */
export function serverTable(tree: JsonObject): JsonObject | undefined {
  for (const key of ["mcpServers", "servers", "context_servers", "mcp_servers"]) {
    const table = tree[key];
    if (isJsonObject(table)) return table;
  }
  const nested = tree["mcp"];
  return isJsonObject(nested) && isJsonObject(nested["servers"]) ? nested["servers"] : undefined;
}

export function convertServers(table: JsonObject): ConvertedServers {
  const stdio: JsonObject = {};
  const remote: JsonObject[] = [];
  const warnings: string[] = [];
  for (const [alias, entry] of Object.entries(table)) {
    if (!isJsonObject(entry)) {
      warnings.push(`server "${alias}" is not an object and was omitted`);
      continue;
    }
    const converted = convertServer(entry);
    if (converted === undefined) {
      warnings.push(`server "${alias}" has neither \`command\` nor \`url\` and was omitted`);
      continue;
    }
    const unknown = Object.keys(entry).filter((key) => !KNOWN_KEYS.has(key));
    if (unknown.length > 0)
      warnings.push(`server "${alias}": ignored ${unknown.map((key) => `\`${key}\``).join(", ")}`);
    if (converted.url === undefined) stdio[alias] = converted.options;
    else remote.push({ namespace: alias, url: converted.url, ...converted.options });
  }
  return { stdio_servers: stdio, remote_servers: remote, warnings };
}

function convertServer(given: JsonObject): { url?: unknown; options: JsonObject } | undefined {
  const entry = flattened(given);
  const common = {
    ...(entry["disabled"] === true ? { enabled: false } : {}),
    ...(typeof entry["timeout"] === "number" ? { timeout: timeoutMs(entry["timeout"]) } : {}),
  };
  const url = entry["url"] ?? entry["serverUrl"] ?? entry["httpUrl"];
  if (url !== undefined) {
    const transport = entry["type"] === "sse" ? { transport: "sse" } : {};
    return { url, options: { ...common, ...transport, ...pick(entry, ["headers"]) } };
  }
  if (entry["command"] === undefined) return undefined;
  return { options: { ...common, ...pick(entry, ["args", "env", "cwd"]), command: entry["command"] } };
}

/** Replaces a `command` of the form `{path, args, env}`, which some editors write, with its members. */
export function flattened(entry: JsonObject): JsonObject {
  const { command } = entry;
  if (!isJsonObject(command)) return entry;
  const { path, args, env } = command;
  return { ...entry, command: path, ...(args === undefined ? {} : { args }), ...(env === undefined ? {} : { env }) };
}

function timeoutMs(value: number): number {
  return value < SECONDS_BELOW ? value * 1000 : value;
}

function pick(entry: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.filter((key) => entry[key] !== undefined && entry[key] !== null).map((key) => [key, asText(entry[key])]),
  );
}

/** Converts numbers and booleans in arguments, variables or headers to text, as clients do. Omits null members. */
export function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scalarText);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, scalarText(member)]])),
  );
}

function scalarText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}
