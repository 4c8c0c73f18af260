import { isDeepStrictEqual } from "node:util";
import { OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { firstChars } from "../../core/text/truncate.ts";

/**
 * Returns how one server's options differ from another's. Returns undefined if both run the same program with the same
 * settings, so that one can replace the other without changing any user's rights.
 */
export function differenceOf(here: JsonObject, there: JsonObject): string | undefined {
  if (!runsSame(here, there)) return differenceInWords(here, there);
  const keys = differingKeys(settingsOf(here), settingsOf(there));
  if (keys.length === 0) return undefined;
  if (keys.every((key) => SECRET_KEYS.has(key))) return "other variables or headers of the same command";
  const list = keys.map((key) => `\`${key}\``).join(", ");
  return `other settings of the same ${"url" in here ? "address" : "command"}: ${list}`;
}

/** Returns whether both start the same program with the same arguments, or have the same URL. */
export function runsSame(here: JsonObject, there: JsonObject): boolean {
  return isDeepStrictEqual(wordsOf(here), wordsOf(there));
}

/** Returns whether the options disable the server or exclude some of its tools. */
export function isLimited(options: JsonObject): boolean {
  const settings = settingsOf(options);
  return LIMITS.some((key) => key in settings);
}

const LIMITS = ["enabled", "include", "exclude"] as const;

function differenceInWords(here: JsonObject, there: JsonObject): string {
  const [own, other] = [serverLabel(here), serverLabel(there)];
  const isRemote = "url" in here;
  // Only the first word is shown, because further words may be secret.
  if (own === other) return `other ${isRemote ? "parameters" : "arguments"} of \`${own}\``;
  return `another ${isRemote ? "address" : "command"}: \`${other}\` there, \`${own}\` here`;
}

/** Returns the name of a server among `others` with the same program and settings. */
export function twinOf(options: JsonObject, others: ReadonlyMap<string, JsonObject>): string | undefined {
  for (const [name, other] of others) if (differenceOf(options, other) === undefined) return name;
  return undefined;
}

function differingKeys(here: JsonObject, there: JsonObject): readonly string[] {
  const keys = new Set([...Object.keys(here), ...Object.keys(there)]);
  return [...keys].filter((key) => !isDeepStrictEqual(here[key], there[key])).toSorted();
}

const SECRET_KEYS: ReadonlySet<string> = new Set(["env", "headers"]);

/** Options that no client's file contains, and that change neither the program nor the available tools. */
const HUB_ONLY: ReadonlySet<string> = new Set(
  (
    "namespace start idle_stop stop_grace install_timeout max_concurrent max_message_bytes max_message_parts " +
    "max_connections max_sessions isolation era legacy_process log_level instructions visibility tool_visibility " +
    "transport display_name rename descriptions keywords pins"
  ).split(" "),
);

/** Members that `wordsOf` compares. */
const WORDS: ReadonlySet<string> = new Set(["command", "args", "url", "host", "port", "path", "scheme"]);

/** Values that have the same effect as an absent option. */
const DEFAULTS: Readonly<Record<string, unknown>> = { enabled: true, connect_timeout: 30_000, credentials: "shared" };

/** Returns the settings that decide whether two servers are equal, in normalised form. Defaults are omitted. */
function settingsOf(options: JsonObject): JsonObject {
  const { token, ...others } = options;
  const headers = {
    ...(token === undefined ? {} : { authorization: bearer(token) }),
    ...lowerCaseNames(options["headers"]),
  };
  const settings = Object.entries({ ...others, headers }).flatMap(([key, value]) =>
    WORDS.has(key) || HUB_ONLY.has(key) ? [] : [[key, plainForm(key, value)] as const],
  );
  return Object.fromEntries(settings.filter(([key, value]) => value !== DEFAULTS[key] && !isEmpty(value)));
}

function bearer(token: unknown): unknown {
  return typeof token === "string" ? `Bearer ${token}` : token;
}

/** Returns headers with lower-case names, which HTTP compares case-insensitively (RFC 9110, section 5.1). */
function lowerCaseNames(headers: unknown): JsonObject {
  if (!isJsonObject(headers)) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function plainForm(key: string, value: unknown): unknown {
  if (key.endsWith("timeout")) return milliseconds(value);
  // The order of these lists has no effect, so they are sorted.
  if (Array.isArray(value)) return [...new Set(value.map(String))].toSorted();
  // TOML parsers create tables without a prototype, which never equal other objects.
  return isJsonObject(value) ? { ...value } : value;
}

function milliseconds(value: unknown): unknown {
  if (typeof value !== "number" && typeof value !== "string") return value;
  try {
    return parseDuration(value);
  } catch (error) {
    if (error instanceof OptionError) return value;
    throw error;
  }
}

function isEmpty(value: unknown): boolean {
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Returns a short label of a server without secrets: its program with the package or script, or its host. */
export function serverLabel(options: JsonObject): string {
  const [program = "?", ...words] = wordsOf(options);
  if ("url" in options) return URL.canParse(program) ? new URL(program).origin + new URL(program).pathname : program;
  const named = words.find((word) => !word.startsWith("-") && !PASSED_ON.has(word));
  const label = named === undefined ? program : `${program} ${named}`;
  return label.length > MAX_LABEL ? `${firstChars(label, MAX_LABEL - 1)}…` : label;
}

/** Subcommands that are followed by a more informative word, as in `pipx run a` and `pnpm dlx a`. */
const PASSED_ON = new Set(["run", "exec", "dlx", "tool"]);
const MAX_LABEL = 80;

/** Returns the program that a server starts. Undefined for a server with a URL. */
export function programOf(options: JsonObject): string | undefined {
  return options["command"] === undefined ? undefined : wordsOf(options)[0];
}

/** Returns the URL, or the program with its arguments, regardless of how they were divided. */
function wordsOf({ url, command, args, host, port, path, scheme }: JsonObject): readonly string[] {
  if (url !== undefined) return [String(url)];
  if (host !== undefined) return [host, port, path, scheme].map((part) => String(part ?? ""));
  const first = Array.isArray(command)
    ? command.map(String)
    : args === undefined
      ? splitPlain(command)
      : [String(command)];
  return [...first, ...(Array.isArray(args) ? args.map(String) : [])];
}

/** Splits a command at spaces. A quoted command stays whole; at worst two equal servers count as different. */
function splitPlain(command: unknown): readonly string[] {
  const text = String(command);
  return /["'\\]/.test(text) ? [text] : text.split(/\s+/);
}
