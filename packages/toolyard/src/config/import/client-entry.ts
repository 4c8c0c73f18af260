import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { translateReferences, type TranslationContext } from "./client-variables.ts";

/** One server of a client: the members that all clients share, and the client's own as options of `toolyard.toml`. */
export interface PlainEntry {
  readonly entry: JsonObject;
  readonly options: JsonObject;
  /** Variables that must be set before the server starts: values that the client asks for, and unset references. */
  readonly variables: readonly string[];
  /** Why the server can only run in its client. Absent: the hub can run it. */
  readonly refusal?: string;
}

/** Client keys that `toolyard.toml` names differently. A rule returns the option, or nothing if it does not apply. */
const RULES: Readonly<Record<string, (value: unknown) => JsonObject | undefined>> = {
  enabled: (value) => (typeof value === "boolean" ? { enabled: value } : undefined),
  environment: () => undefined,
  includeTools: (value) => names("include", value),
  enabled_tools: (value) => names("include", value),
  excludeTools: (value) => names("exclude", value),
  disabled_tools: (value) => names("exclude", value),
  disabledTools: (value) => names("exclude", value),
  tool_timeout_sec: (value) => seconds("timeout", value),
  startup_timeout_sec: (value) => seconds("connect_timeout", value),
  env_vars: (value) => names("inherit_env", value),
  envFile: (value) => (typeof value === "string" && value !== "" ? { env_file: value } : undefined),
  bearer_token_env_var: (value) => (typeof value === "string" && value !== "" ? { token: `\${${value}}` } : undefined),
  http_headers: () => undefined,
  env_http_headers: () => undefined,
};

/** Returns one server of a client's file in the terms of `toolyard.toml`, with its references translated. */
export function toPlainEntry(given: JsonObject, context: TranslationContext): PlainEntry {
  const { value, missing, refusal } = translateReferences(given, context);
  const { entry, needed } = renamed(value as JsonObject, context);
  const { plain, options } = splitOptions(entry);
  const variables = [...new Set([...missing, ...needed])];
  return { entry: plain, options, variables, ...(refusal !== undefined && { refusal }) };
}

/** Returns a client's entry under the names of `toolyard.toml`. Keys without a rule, and references, are unchanged. */
export function renameClientKeys(given: JsonObject): JsonObject {
  const { plain, options } = splitOptions(renamed(given, { variables: {} }).entry);
  return { ...plain, ...options };
}

interface SplitEntry {
  /** Members that no rule is for. */
  readonly plain: JsonObject;
  readonly options: JsonObject;
}

function splitOptions(entry: JsonObject): SplitEntry {
  const options = Object.assign(
    {},
    ...Object.entries(RULES).map(([key, rule]) => (key in entry ? rule(entry[key]) : undefined)),
  ) as JsonObject;
  return { plain: Object.fromEntries(Object.entries(entry).filter(([key]) => !(key in RULES))), options };
}

interface RenamedEntry {
  readonly entry: JsonObject;
  /** Variables that Codex names as keys, and that are not set. */
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

function names(option: string, value: unknown): JsonObject | undefined {
  const list = Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
  return list.length > 0 ? { [option]: list } : undefined;
}

function seconds(option: string, value: unknown): JsonObject | undefined {
  return typeof value === "number" && value > 0 ? { [option]: `${value}s` } : undefined;
}
