// Reads the tables `env`, `limits`, `isolation` and `run` of a tool's own description, in TOML or JSON.
import { parseDuration } from "../../core/text/duration.ts";
import { messageOf } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { OptionSchema } from "../../core/options/option-schema.ts";
import type { ToolLimits } from "../../core/sources/records.ts";
import type { PartialRunSettings } from "../../runtimes/scripts/run-settings.ts";
import type { ScriptEnvironment } from "../../runtimes/scripts/run-script.ts";
import type { Findings } from "./findings.ts";
import { RUN_OPTIONS, toRunSettings, type RunConfig } from "./run-options.ts";

/** Keys that `readRunTables` reads; `readEnvironment` and `readCallLimits` read further ones. */
export const RUN_TABLES = ["limits", "isolation", "run"] as const;
export const CALL_LIMITS = ["timeout", "total_timeout", "max_concurrent"] as const;

/** Returns the tool's own run settings. The provider supplies those that are missing. */
export function readRunTables(raw: JsonObject, findings: Findings): PartialRunSettings {
  const before = findings.faults.length;
  const tables: Record<string, JsonObject> = {};
  for (const key of RUN_TABLES) if (raw[key] !== undefined) tables[key] = checkTable(raw[key], key, findings);
  if (findings.faults.length > before) return {};
  try {
    return toRunSettings(tables as RunConfig);
  } catch (error) {
    findings.fault(messageOf(error));
    return {};
  }
}

function checkTable(table: unknown, key: (typeof RUN_TABLES)[number], findings: Findings): JsonObject {
  if (!isJsonObject(table)) {
    findings.fault(`\`${key}\` must be a table`);
    return {};
  }
  const known: Readonly<Record<string, OptionSchema>> = RUN_OPTIONS[key].properties;
  findings.noteUnknownKeys(table, Object.keys(known), key);
  const members = Object.entries(table).filter(([name]) => Object.hasOwn(known, name));
  for (const [name, value] of members) {
    const problem = problemWith(value, known[name]!);
    if (problem !== undefined) findings.fault(`\`${key}.${name}\` ${problem}, got ${JSON.stringify(value)}`);
  }
  return Object.fromEntries(members);
}

/** Returns the fault of a value. Other code checks sizes and times. */
function problemWith(value: unknown, schema: OptionSchema): string | undefined {
  if (schema.anyOf)
    return typeof value === "string" || typeof value === "number" ? undefined : "must be a number or a text";
  if (schema.enum) return schema.enum.includes(value) ? undefined : `must be one of ${listed(schema.enum)}`;
  const rule = schema.type === undefined ? undefined : RULES[schema.type];
  if (!rule) return wholeNumberProblem(value, schema);
  return rule.fits(value) ? undefined : rule.words;
}

interface TypeRule {
  readonly fits: (value: unknown) => boolean;
  readonly words: string;
}

const RULES: Readonly<Partial<Record<string, TypeRule>>> = {
  boolean: { fits: (value) => typeof value === "boolean", words: "must be true or false" },
  array: { fits: (value) => Array.isArray(value) && value.every(isText), words: "must be a list of texts" },
  string: { fits: isText, words: "must be a text" },
};

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function listed(values: readonly unknown[]): string {
  return values.map((one) => JSON.stringify(one)).join(", ");
}

function wholeNumberProblem(value: unknown, schema: OptionSchema): string | undefined {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  const isFitting = Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
  if (isFitting) return undefined;
  return `must be a whole number from ${minimum}${schema.maximum === undefined ? "" : ` to ${maximum}`}`;
}

/** Suffix of a name in `pass` that marks the variable as optional. */
const OPTIONAL_MARK = "?";

/** Reads `env`: the tool's own variables, and in `pass` the names of variables that are passed on from the hub. */
export function readEnvironment(value: unknown, findings: Findings): ScriptEnvironment {
  const own: Record<string, string> = {};
  if (value === undefined) return { own, inherit: [], required: [] };
  if (!isJsonObject(value)) {
    findings.fault("`env` must be a table of variables");
    return { own, inherit: [], required: [] };
  }
  for (const [name, setting] of Object.entries(value)) {
    if (name === "pass") continue;
    if (typeof setting === "string" || typeof setting === "number" || typeof setting === "boolean")
      own[name] = String(setting);
    else findings.fault(`\`env.${name}\` must be a text`);
  }
  return { own, ...readPassed(findings.texts(value["pass"], "env.pass"), own) };
}

function readPassed(
  names: readonly string[],
  own: Readonly<Record<string, string>>,
): Pick<ScriptEnvironment, "inherit" | "required"> {
  const bare = (name: string): string => (name.endsWith(OPTIONAL_MARK) ? name.slice(0, -OPTIONAL_MARK.length) : name);
  return {
    inherit: names.map(bare),
    required: names.filter((name) => bare(name) === name && !Object.hasOwn(own, name)),
  };
}

/** Returns why a tool with missing variables is not offered; undefined if none is missing. */
export function unsetProblem({ required }: Pick<ScriptEnvironment, "required">): string | undefined {
  const unset = required.filter((name) => process.env[name] === undefined);
  if (unset.length === 0) return undefined;
  const named = unset.map((name) => `\`${name}\``).join(", ");
  return (
    `\`env.pass\` names ${named}, not set where the hub runs; set ${unset.length === 1 ? "it" : "them"} and start ` +
    `the hub again, or write \`"${unset[0]}${OPTIONAL_MARK}"\` if the tool can do without`
  );
}

/** Reads `timeout`, `total_timeout` and `max_concurrent`. */
export function readCallLimits(raw: JsonObject, findings: Findings): ToolLimits {
  const timeoutMs = durationOf(raw, "timeout", findings);
  const totalTimeoutMs = durationOf(raw, "total_timeout", findings);
  const maxConcurrent = raw["max_concurrent"];
  const isCount = Number.isInteger(maxConcurrent) && (maxConcurrent as number) > 0;
  if (maxConcurrent !== undefined && !isCount) findings.fault("`max_concurrent` must be a whole number above 0");
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(totalTimeoutMs === undefined ? {} : { totalTimeoutMs }),
    ...(isCount ? { maxConcurrent: maxConcurrent as number } : {}),
  };
}

function durationOf(raw: JsonObject, key: string, findings: Findings): number | undefined {
  const value = raw[key];
  if (value === undefined) return undefined;
  try {
    return parseDuration(value as string | number, key);
  } catch (error) {
    findings.fault(messageOf(error));
    return undefined;
  }
}
