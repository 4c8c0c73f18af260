import { OptionError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { NameBook } from "../../core/names/name-book.ts";
import { DEFAULT_NAMING, READ_SEPARATORS, renderModelName, type NameParts } from "../../core/names/names.ts";
import { nearest } from "../../core/text/suggest.ts";
import { resolveRemoteServer } from "../../providers/http/options.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Location of a tool. The server supports Streamable HTTP at `scheme://host:port/path`. */
export interface RegistryLine {
  /** Host name or IP address, combined with `port`. Alternative: `url`. */
  readonly host?: string;
  readonly port?: number;
  /** Full URL of the server, instead of `host`, `port`, `path` and `scheme`. */
  readonly url?: string;
  /** Path of the endpoint. @default "/mcp" */
  readonly path?: string;
  /** URL scheme. @default "http" */
  readonly scheme?: "http" | "https";
  /** Bearer token for the server. @default none */
  readonly token?: string;
  /** Name of the tool on the server. @default its local name, or its known alias */
  readonly tool?: string;
  /**
   * Name of the service in errors, `… MCP`. @default derived from the host (`weather-mcp`), or from the tool if the
   * host is an IP address
   */
  readonly name?: string;
}

export type Registry = Readonly<Record<string, RegistryLine>>;

/** Registry with the specified services. */
export const DEFAULT_REGISTRY: Registry = Object.freeze({
  get_current_datetime: { host: "datetime-mcp", port: 50051 },
  search_ddgs: { host: "ddgs-mcp", port: 50052 },
  get_weather: { host: "weather-mcp", port: 50053 },
  geocode: { host: "geocoding-mcp", port: 50054 },
});

/**
 * Pairs of names of the same tool in the specified services and in other services. The manager accepts each name of a
 * pair for the other.
 */
export const TOOL_ALIASES: Readonly<Record<string, string>> = Object.freeze({
  get_current_datetime: "get_current_datetime_tool",
  search_ddgs: "web_search_tool",
  get_weather: "get_weather_tool",
  geocode: "geocode_tool",
});

/** A resolved line of the registry. */
export interface RegistryEntry {
  readonly tool: string;
  readonly line: RegistryLine & { readonly host: string; readonly port: number };
  /** Possible names of the tool on its server, the most likely first. */
  readonly toolNames: readonly string[];
  /** URL of the endpoint. Lines with the same endpoint and token share a connection. */
  readonly endpoint: string;
  readonly token?: string;
  readonly displayName: string;
  /** Possible prefixes of a tool's name: the service's host, and its short name. */
  readonly servers: { readonly id: string; readonly namespace: string };
}

export type RegistryLookup =
  | { readonly found: true; readonly entry: RegistryEntry }
  | { readonly found: false; readonly message: string };

const LINE_KEYS = ["host", "port", "url", "path", "scheme", "token", "tool", "name"];

/** Parses a line of the registry. Throws an `OptionError` that names it. */
export function toEntry(tool: string, line: RegistryLine, aliases: Readonly<Record<string, string>>): RegistryEntry {
  if (tool === "") throw new OptionError("A line of the registry has no tool name.");
  const { name, token, tool: nameThere } = checkedLine(tool, line);
  const url = addressOf(tool, line);
  const host = line.host ?? url.hostname.replace(/^\[(.*)\]$/, "$1");
  const words =
    name === undefined ? shortWords(host, tool, aliases) : name.replace(/(?<!\s)\s+MCP$/i, "").split(/[\s_-]+/);
  return {
    tool,
    line: { ...line, host, port: line.port ?? portOf(url) },
    endpoint: url.href,
    ...(token === undefined ? {} : { token }),
    toolNames: nameThere === undefined ? [tool, ...otherNames(tool, aliases)] : [nameThere],
    displayName: `${name === undefined ? words.map(capitalised).join(" ") : words.join(" ")} MCP`,
    servers: { id: host, namespace: words.join("-").toLowerCase() },
  };
}

function checkedLine(tool: string, line: unknown): RegistryLine {
  const where = `The registry's line \`${tool}\``;
  if (!isJsonObject(line))
    throw new OptionError(`${where} must be an object such as {host: "weather-mcp", port: 50053}.`);
  const given = line as RegistryLine;
  const unknown = Object.keys(given).find((key) => !LINE_KEYS.includes(key));
  if (unknown !== undefined) {
    const near = nearest(unknown, LINE_KEYS, 1).map((key) => ` Did you mean \`${key}\`?`);
    const known = LINE_KEYS.map((key) => `\`${key}\``).join(", ");
    throw new OptionError(`${where} has no key \`${unknown}\`.${near.join("") || ` Known keys: ${known}.`}`);
  }
  const wrong = (["url", "path", "scheme", "token", "tool", "name"] as const).find(
    (key) => given[key] !== undefined && (typeof given[key] !== "string" || given[key] === ""),
  );
  if (wrong !== undefined) throw new OptionError(`${where}: \`${wrong}\` must be a text and not empty.`);
  if (given.url === undefined && given.host === undefined)
    throw new OptionError(`${where} has no \`host\`. Give \`host\` and \`port\`, or the whole address as \`url\`.`);
  if (given.url === undefined && given.port === undefined && !/^https?:\/\//i.test(given.host!))
    throw new OptionError(`${where} has no \`port\`. Give it, or the whole address as \`url\`.`);
  return given;
}

function addressOf(tool: string, { host, port, path, scheme, url }: RegistryLine): URL {
  try {
    const given = { host, port, path, scheme, url };
    return resolveRemoteServer(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
      .url;
  } catch (error) {
    if (error instanceof OptionError)
      throw new OptionError(`The registry's line \`${tool}\`: ${error.message}`, { cause: error });
    throw error;
  }
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function otherNames(tool: string, aliases: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(aliases).flatMap((pair) => (pair.includes(tool) ? pair.filter((name) => name !== tool) : []));
}

/**
 * Returns the short name of a service: `weather-mcp` becomes weather. For an IP address, the tool decides: a tool of
 * the specified services gets the name of its service (`search_ddgs` → ddgs), another tool the words of its name
 * (`get_joke` → joke).
 */
function shortWords(host: string, tool: string, aliases: Readonly<Record<string, string>>): string[] {
  const [first = host] = (isName(host) ? host : (knownHost(tool, aliases) ?? "")).split(".");
  const words = first === "" ? tool.replace(/^get_/, "").replace(/_tool$/, "") : first.replace(/[-_]mcp$/i, "");
  return words.split(/[_-]+/);
}

function isName(host: string): boolean {
  return /[a-z]/i.test(host) && !host.includes(":") && host.split(".")[0]!.toLowerCase() !== "localhost";
}

function knownHost(tool: string, aliases: Readonly<Record<string, string>>): string | undefined {
  return [tool, ...otherNames(tool, aliases)].map((name) => DEFAULT_REGISTRY[name]?.host).find(Boolean);
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/**
 * Finds the line for a name: `tool`, `server.tool` in every spelling, or a remote name of the tool. Sends no request.
 */
export class RegistryNames {
  readonly #book: NameBook<RegistryEntry>;
  readonly #tools: readonly string[];

  constructor(entries: ReadonlyMap<string, RegistryEntry>) {
    this.#tools = [...entries.keys()];
    this.#book = new NameBook([...entries.values()], {
      naming: DEFAULT_NAMING,
      namedOf: (entry) => namedOf(entry, entries),
    });
  }

  find(name: string): RegistryLookup {
    const [entry, ...others] = this.#book.candidates(name);
    // If all lines with this name belong to the same tool, any of them can be used.
    const more = others.filter((other) => entry && !isSameTool(entry, other));
    if (entry && more.length === 0) return { found: true, entry };
    const shown = name.length > MAX_SHOWN ? `${firstChars(name, MAX_SHOWN)}…` : name;
    if (entry)
      return {
        found: false,
        message: `Several tools answer to ${shown}: ${[entry, ...more]
          .map(({ tool }) => tool)
          .toSorted()
          .join(", ")}. Use one of these names.`,
      };
    const near = nearest(name, this.#tools);
    const known =
      near.length > 0 ? `Did you mean ${near.join(", ")}?` : `There are: ${this.#tools.join(", ") || "none"}.`;
    return { found: false, message: `Unknown tool: ${shown}. ${known}` };
  }
}

const MAX_SHOWN = 200;

function isSameTool(one: RegistryEntry, other: RegistryEntry): boolean {
  return one.endpoint === other.endpoint && one.toolNames[0] === other.toolNames[0];
}

function namedOf({ tool, toolNames, servers }: RegistryEntry, entries: ReadonlyMap<string, RegistryEntry>): NameParts {
  const { id, namespace } = servers;
  const elsewhere = toolNames.filter((name) => name !== tool);
  // A model that knows the tool from its own server may use the name in the format of model APIs, so this spelling is
  // accepted too.
  const other = [
    ...new Set([...elsewhere, ...elsewhere.map((name) => renderModelName({ source: servers, name }, name))]),
  ];
  const qualified = other.flatMap((name) =>
    [id, namespace].flatMap((server) => READ_SEPARATORS.map((separator) => server + separator + name)),
  );
  // A name that has its own line of the registry always refers to that line.
  return { source: servers, name: tool, hiddenNames: [...other, ...qualified].filter((name) => !entries.has(name)) };
}
