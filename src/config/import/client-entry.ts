import { isJsonObject, type JsonObject } from "../../core/json.ts";

/**
 * One server of some client, in the words that all of them share, and what only some can say, in the words of
 * `toolyard.toml`.
 */
export interface PlainEntry {
  readonly entry: JsonObject;
  readonly options: JsonObject;
  /** Variables that stand for what the client would have asked a person. */
  readonly variables: readonly string[];
}

/**
 * How clients call what `toolyard.toml` calls otherwise. A rule gives the option's value, or nothing when it does not
 * apply.
 */
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
  bearer_token_env_var: (value) => (typeof value === "string" && value !== "" ? { token: `\${${value}}` } : undefined),
  http_headers: () => undefined,
  env_http_headers: () => undefined,
};

export function toPlainEntry(given: JsonObject): PlainEntry {
  const variables = new Set<string>();
  const entry = answered(renamed(given), variables) as JsonObject;
  const options = Object.assign(
    {},
    ...Object.entries(RULES).map(([key, rule]) => (key in entry ? rule(entry[key]) : undefined)),
  ) as JsonObject;
  const plain = Object.fromEntries(Object.entries(entry).filter(([key]) => !(key in RULES)));
  return { entry: plain, options, variables: [...variables] };
}

/** OpenCode's `environment`, Codex's headers. */
function renamed(entry: JsonObject): JsonObject {
  const { environment, http_headers: headers, env_http_headers: fromVariables } = entry;
  const references = isJsonObject(fromVariables)
    ? Object.fromEntries(Object.entries(fromVariables).map(([name, variable]) => [name, `\${${String(variable)}}`]))
    : {};
  const joined = {
    ...(isJsonObject(entry["headers"]) ? entry["headers"] : {}),
    ...(isJsonObject(headers) ? headers : {}),
    ...references,
  };
  return {
    ...entry,
    ...(isJsonObject(environment) ? { env: environment } : {}),
    ...(Object.keys(joined).length > 0 ? { headers: joined } : {}),
  };
}

const INPUT = /\$\{input:([^}]+)\}/g;

/** A server asks nobody: what the client would ask for comes from a variable. */
function answered(value: unknown, variables: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => answered(item, variables));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, answered(member, variables)]));
  if (typeof value !== "string") return value;
  return value.replace(INPUT, (_whole, id: string) => {
    const variable = id
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "_");
    variables.add(variable);
    return `\${${variable}}`;
  });
}

function names(option: string, value: unknown): JsonObject | undefined {
  const list = Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
  return list.length > 0 ? { [option]: list } : undefined;
}

function seconds(option: string, value: unknown): JsonObject | undefined {
  return typeof value === "number" && value > 0 ? { [option]: `${value}s` } : undefined;
}
