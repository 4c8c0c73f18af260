import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { KNOWN_KEYS } from "../mcp-json.ts";
import { translateReferences, type TranslationContext } from "./client-variables.ts";

/**
 * A server of a client: the members that all clients share, and the client's own members as options of `toolyard.toml`.
 */
export interface PlainEntry {
  readonly entry: JsonObject;
  readonly options: JsonObject;
  /**
   * Variables that must be set before the server starts: values for which the client prompts, and unset references.
   */
  readonly variables: readonly string[];
  /** Keys of the client's entry with a setting that `toolyard.toml` does not support. */
  readonly uncarried: readonly string[];
  /** Reason why only the client can run the server. Absent: the hub can run it. */
  readonly refusal?: string;
}

/** Converts a client key to options; undefined if its value cannot be converted. */
type Rule = (value: unknown) => JsonObject | undefined;

/** Rules for client keys that `toolyard.toml` names differently. */
const RULES: Readonly<Record<string, Rule>> = {
  enabled: (value) => (typeof value === "boolean" ? { enabled: value } : undefined),
  environment: (value) => (isJsonObject(value) ? {} : undefined),
  includeTools: includeOption,
  enabled_tools: includeOption,
  tools: (value) => (Array.isArray(value) && value.includes("*") ? {} : includeOption(value)),
  excludeTools: excludeOption,
  disabled_tools: excludeOption,
  disabledTools: excludeOption,
  tool_timeout_sec: (value) => duration("timeout", value, "s"),
  startup_timeout_sec: (value) => duration("connect_timeout", value, "s"),
  startup_timeout_ms: (value) => duration("connect_timeout", value, "ms"),
  env_vars: (value) => names("inherit_env", value),
  envFile: (value) => (typeof value === "string" ? (value === "" ? {} : { env_file: value }) : undefined),
  bearer_token_env_var: (value) =>
    typeof value === "string" ? (value === "" ? {} : { token: `\${${value}}` }) : undefined,
  http_headers: (value) => (isJsonObject(value) ? {} : undefined),
  env_http_headers: (value) => (isJsonObject(value) ? {} : undefined),
};

/** Type checks of the keys that `mcp-json.ts` converts. Without a check, a value of another type would be lost. */
const CONVERTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  disabled: (value) => typeof value === "boolean",
  timeout: (value) => typeof value === "number",
  env: isJsonObject,
  headers: isJsonObject,
  args: Array.isArray,
  cwd: (value) => typeof value === "string",
  type: (value) => typeof value === "string" && TRANSPORTS.has(value.toLowerCase().replaceAll("_", "-")),
};

const TRANSPORTS: ReadonlySet<string> = new Set(
  "stdio local remote http https sse streamable-http streamablehttp streamable".split(" "),
);

/** Keys that name or describe a server, or that only concern its display in the client. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  "name title description comment icon icons version gallery author homepage tags source alwaysLoad deferTools".split(
    " ",
  ),
);

/** Converts one server of a client's file to the options of `toolyard.toml`, and translates its references. */
export function toPlainEntry(given: JsonObject, context: TranslationContext): PlainEntry {
  const { value, missing, refusal } = translateReferences(given, context);
  const { entry, needed } = renamed(value as JsonObject, context);
  const { plain, options } = splitOptions(entry);
  const variables = [...new Set([...missing, ...needed])];
  return {
    entry: plain,
    options,
    variables,
    uncarried: uncarriedKeys(given),
    ...(refusal !== undefined && { refusal }),
  };
}

/** Converts a client's entry to the names of `toolyard.toml`. Keys without a rule, and references, are unchanged. */
export function renameClientKeys(given: JsonObject): JsonObject {
  const { plain, options } = splitOptions(renamed(given, { variables: {} }).entry);
  return { ...plain, ...options };
}

interface SplitEntry {
  /** Members of the entry whose keys have no rule. */
  readonly plain: JsonObject;
  readonly options: JsonObject;
}

function splitOptions(entry: JsonObject): SplitEntry {
  const options = joinOptions(
    Object.entries(RULES).flatMap(([key, rule]) => (isSet(entry[key]) ? [rule(entry[key]) ?? {}] : [])),
  );
  // A server is enabled only if no key of its entry disables it.
  const isOff = options["enabled"] === false || entry["disabled"] === true;
  return {
    plain: Object.fromEntries(Object.entries(entry).filter(([key]) => !(key in RULES))),
    options: isOff ? { ...options, enabled: false } : options,
  };
}

/** Returns the keys of an entry whose setting would be lost in the hub. */
function uncarriedKeys(entry: JsonObject): readonly string[] {
  return Object.entries(entry).flatMap(([key, value]) => (isCarried(key, value) ? [] : [key]));
}

function isCarried(key: string, value: unknown): boolean {
  if (!isSet(value) || WITHOUT_EFFECT.has(key) || key.startsWith("$")) return true;
  const rule = RULES[key];
  if (rule) return rule(value) !== undefined;
  const isFitting = CONVERTED[key];
  if (isFitting) return isFitting(value);
  return KNOWN_KEYS.has(key) || isNothing(value);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns whether a value has the same meaning as an absent key: false, or an empty list or table. */
function isNothing(value: unknown): boolean {
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  return value === false || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Combines the values of several keys: all exclusions apply, and inclusions are intersected. */
function joinOptions(parts: readonly JsonObject[]): JsonObject {
  return parts.reduce<JsonObject>((joined, part) => {
    const result: Record<string, unknown> = { ...joined, ...part };
    const [before, after] = [listOf(joined["exclude"]), listOf(part["exclude"])];
    if (before && after) result["exclude"] = [...new Set([...before, ...after])];
    const [wide, narrow] = [listOf(joined["include"]), listOf(part["include"])];
    if (wide && narrow) {
      const both = wide.filter((name) => narrow.includes(name));
      if (both.length > 0) return { ...result, include: both };
      return { ...result, include: narrow, exclude: [ALL_TOOLS] };
    }
    return result;
  }, {});
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

interface RenamedEntry {
  readonly entry: JsonObject;
  /** Unset variables that Codex names as keys. */
  readonly needed: readonly string[];
}

/** Renames OpenCode's `environment` and Codex's headers. */
function renamed(entry: JsonObject, { variables }: Pick<TranslationContext, "variables">): RenamedEntry {
  const { environment, http_headers: headers, env_http_headers: fromVariables, bearer_token_env_var: token } = entry;
  const named = Object.entries(isJsonObject(fromVariables) ? fromVariables : {});
  const references = Object.fromEntries(named.map(([name, variable]) => [name, `\${${String(variable)}}`]));
  const joined = {
    ...(isJsonObject(entry["headers"]) ? entry["headers"] : {}),
    ...(isJsonObject(headers) ? headers : {}),
    ...references,
  };
  const used = [...named.map(([, variable]) => String(variable)), ...(typeof token === "string" ? [token] : [])];
  return {
    entry: {
      ...entry,
      ...(isJsonObject(environment) ? { env: environment } : {}),
      ...(Object.keys(joined).length > 0 ? { headers: joined } : {}),
    },
    needed: used.filter((name) => name !== "" && variables[name] === undefined),
  };
}

const ALL_TOOLS = "*";

/**
 * Returns the `include` option. For a client, an empty list allows no tools, but `include = []` would offer all tools.
 */
function includeOption(value: unknown): JsonObject | undefined {
  return Array.isArray(value) && value.length === 0 ? { exclude: [ALL_TOOLS] } : names("include", value);
}

function excludeOption(value: unknown): JsonObject | undefined {
  return names("exclude", value);
}

function names(option: string, value: unknown): JsonObject | undefined {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) return undefined;
  return value.length > 0 ? { [option]: value } : {};
}

function duration(option: string, value: unknown, unit: "s" | "ms"): JsonObject | undefined {
  return typeof value === "number" && value > 0 ? { [option]: `${value}${unit}` } : undefined;
}
