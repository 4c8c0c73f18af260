import { renameClientKeys } from "../../config/import/client-entry.ts";
import { asText, flattened } from "../../config/mcp-json.ts";
import { OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { nearest } from "../../core/text/suggest.ts";
import { StdioServerSchema, type StdioServerConfig } from "../../providers/stdio/options.ts";
import { toSnake } from "../option-keys.ts";

/** A server entry with the binding's keys. */
export interface ServerEntry<T> {
  readonly server: T;
  /** Keys of the entry that have no effect. */
  readonly ignored: readonly string[];
}

const STDIO_KEYS: readonly string[] = Object.keys(StdioServerSchema.properties);
const TEXTS = ["args", "env", "headers"] as const;
/** Keys in which clients name a server's transport. */
const TRANSPORT_KEYS = ["type", "transport"] as const;
const STDIO_TRANSPORTS: readonly unknown[] = ["stdio", "local"];
/** Client keys with the name of an option of the hub but another meaning. They are removed. */
const LABEL_KEYS: readonly string[] = ["description", "name", "label", "displayName", "tools", "tags", "version"];
const URL_KEYS = ["url", "serverUrl", "httpUrl"] as const;

/**
 * Reads an entry of `initial_servers`: the keys of a stdio server in either spelling, and keys of other MCP clients.
 * Throws an `OptionError` for an entry of another kind, and for a misspelt option.
 */
export function readStdioEntry(given: unknown): ServerEntry<StdioServerConfig> {
  if (!isJsonObject(given))
    throw new OptionError(
      `A server must be an object such as {command: ["python3", "server.py"]}, got ${JSON.stringify(given)}.`,
    );
  assertStdio(given);
  const { server, ignored } = splitKeys(readClientKeys(given, STDIO_KEYS), STDIO_KEYS);
  return { server: server as StdioServerConfig, ignored };
}

/** Reads an entry of `servers_infos`, with keys of other MCP clients. Throws an `OptionError` if one is misspelt. */
export function readRemoteEntry(given: JsonObject, known: readonly string[]): ServerEntry<JsonObject> {
  const entry = readClientKeys(given, known);
  const urlKey = entry["server_url"] === undefined && URL_KEYS.find((key) => entry[key] !== undefined);
  if (!urlKey) return splitKeys(entry, known);
  const { [urlKey]: url, ...others } = entry;
  return splitKeys({ ...others, server_url: url }, known);
}

/** Removes null values, which mean absent, as in the specified Python interface. Keys in `known` are kept. */
function readClientKeys(given: JsonObject, known: readonly string[]): JsonObject {
  const present = Object.fromEntries(Object.entries(flattened(given)).filter(([, value]) => value !== null));
  const own = Object.entries(present).filter(([key]) => known.includes(key));
  const { disabled, ...entry } = { ...renameClientKeys(present), ...Object.fromEntries(own) };
  const texts = Object.fromEntries(TEXTS.filter((key) => key in entry).map((key) => [key, asText(entry[key])]));
  const off = typeof disabled === "boolean" ? (disabled ? { enabled: false } : {}) : { disabled };
  return Object.fromEntries(Object.entries({ ...entry, ...texts, ...off }).filter(([, value]) => value !== undefined));
}

function assertStdio(given: JsonObject): void {
  const advice = "This binding starts servers on stdio; give a remote server to `RemoteMCPBinding`.";
  const url = given["command"] === undefined ? URL_KEYS.find((key) => given[key] !== undefined) : undefined;
  if (url !== undefined) throw new OptionError(`The server has \`${url}\`, but no \`command\`. ${advice}`);
  const key = TRANSPORT_KEYS.find((name) => given[name] !== undefined && !isStdio(given[name]));
  if (key !== undefined) throw new OptionError(`\`${key}\` is ${JSON.stringify(given[key])}. ${advice}`);
}

function isStdio(transport: unknown): boolean {
  return transport === null || STDIO_TRANSPORTS.includes(transport);
}

function splitKeys(entry: JsonObject, known: readonly string[]): ServerEntry<JsonObject> {
  const server: JsonObject = {};
  const ignored: string[] = [];
  for (const [given, value] of Object.entries(entry)) {
    const key = toSnake(given);
    if (known.includes(key) && server[key] === undefined) server[key] = value;
    else if (known.includes(key))
      throw new OptionError(`\`${key}\` is given in both spellings. Remove one of the two.`);
    else if (!TRANSPORT_KEYS.some((name) => name === given)) {
      assertNotMisspelt(given, key, known);
      ignored.push(given);
    }
  }
  return { server, ignored };
}

function assertNotMisspelt(given: string, key: string, known: readonly string[]): void {
  const [near] = LABEL_KEYS.includes(given) ? [] : nearest(key, known, 1);
  if (near !== undefined) throw new OptionError(`There is no option \`${given}\`. Did you mean \`${near}\`?`);
}

/** Returns the text of the diagnostic about ignored keys. */
export function ignoredKeysMessage(keys: readonly string[]): string {
  return `Ignored ${keys.map((key) => `\`${key}\``).join(", ")}: this binding has no such option.`;
}
