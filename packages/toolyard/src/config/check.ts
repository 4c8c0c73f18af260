import { isJsonObject } from "../core/json/json.ts";
import { valuesOf, type OptionSchema } from "../core/options/option-schema.ts";
import { nearest } from "../core/text/suggest.ts";
import { firstChars } from "../core/text/truncate.ts";

/** A fault of a configuration, with its path and a message that contains the value and advice. */
export interface ConfigProblem {
  /** Keys from the top, such as `["server", "port"]`. */
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Checks a tree against the schema of options. Unknown keys are problems, with the nearest known key as a suggestion.
 */
export function checkConfig(value: unknown, schema: OptionSchema, path: readonly string[] = []): ConfigProblem[] {
  if (schema.anyOf) return checkUnion(value, schema, path);
  const wrong = typeProblem(value, schema);
  if (wrong !== undefined) return [{ path, message: wrong }];
  if (isJsonObject(value)) return checkObject(value, schema, path);
  if (Array.isArray(value)) return checkArray(value, schema, path);
  const bad = scalarProblem(value, schema);
  return bad === undefined ? [] : [{ path, message: bad }];
}

function checkUnion(value: unknown, schema: OptionSchema, path: readonly string[]): ConfigProblem[] {
  const attempts = (schema.anyOf ?? []).map((member) => ({ member, problems: checkConfig(value, member, path) }));
  if (attempts.some(({ problems }) => problems.length === 0)) return [];
  // The union member that accepts the type of the value reports the most useful problems.
  const sameType = attempts.find(({ member }) => typeProblem(value, member) === undefined);
  if (sameType) return sameType.problems;
  const accepted = attempts.map(({ member }) => describe(member)).join(" or ");
  const isSecret = attempts.some(({ member }) => member.writeOnly === true);
  return [{ path, message: `must be ${accepted}, got ${shown(value, { writeOnly: isSecret })}` }];
}

function typeProblem(value: unknown, schema: OptionSchema): string | undefined {
  if (schema.const !== undefined)
    return value === schema.const ? undefined : `must be ${show(schema.const)}, got ${show(value)}`;
  if (schema.type === undefined || typeOf(value) === schema.type) return undefined;
  if (schema.type === "number" && typeOf(value) === "integer") return undefined;
  return `must be ${describe(schema)}, got ${shown(value, schema)}`;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function scalarProblem(value: unknown, schema: OptionSchema): string | undefined {
  if (schema.enum && !schema.enum.includes(value)) return choiceProblem(value, schema.enum, schema);
  if (typeof value === "number") return numberProblem(value, schema);
  return typeof value === "string" ? textProblem(value, schema) : undefined;
}

function choiceProblem(value: unknown, choices: readonly unknown[], schema: OptionSchema): string {
  const accepted = choices.map((choice) => show(choice)).join(", ");
  const [near] = typeof value === "string" ? nearest(value, choices.map(String), 1) : [];
  const advice = near === undefined ? "" : `; did you mean "${near}"?`;
  return `must be one of ${accepted}, got ${shown(value, schema)}${advice}`;
}

function numberProblem(value: number, { minimum, maximum }: OptionSchema): string | undefined {
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}, got ${value}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}, got ${value}`;
  return undefined;
}

function textProblem(value: string, schema: OptionSchema): string | undefined {
  if (schema.minLength !== undefined && value.length < schema.minLength) return `must not be empty`;
  // Only the hub's own schemas contain patterns. A pattern from a file could take unlimited time.
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value))
    return `must match ${schema.pattern}, got ${shown(value, schema)}`;
  return undefined;
}

function checkObject(value: Record<string, unknown>, schema: OptionSchema, path: readonly string[]): ConfigProblem[] {
  const known = schema.properties ?? {};
  const values = valuesOf(schema);
  const problems: ConfigProblem[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (Object.hasOwn(known, key)) problems.push(...checkConfig(member, known[key]!, [...path, key]));
    else if (values) problems.push(...checkConfig(member, values, [...path, key]));
    else if (schema.additionalProperties !== true)
      problems.push({ path: [...path, key], message: misplacedKey(key, known) ?? unknownKey(key, Object.keys(known)) });
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) problems.push({ path, message: `needs the key \`${key}\`` });
  }
  return problems;
}

function checkArray(value: readonly unknown[], schema: OptionSchema, path: readonly string[]): ConfigProblem[] {
  if (schema.minItems !== undefined && value.length < schema.minItems)
    return [{ path, message: `needs at least ${schema.minItems} entries` }];
  const { items } = schema;
  return items ? value.flatMap((item, index) => checkConfig(item, items, [...path, String(index)])) : [];
}

/** Returns the message for a key that belongs in another table, such as `tools_path` at the top of a file. */
function misplacedKey(key: string, known: Readonly<Record<string, OptionSchema>>): string | undefined {
  const tables = Object.keys(known).filter((table) => Object.hasOwn(known[table]!.properties ?? {}, key));
  if (tables.length === 0 || tables.length > MAX_TABLES) return undefined;
  const [first, ...others] = tables.map((table) => `[${table}]`);
  return `unknown key here; it belongs under ${first}${others.map((table) => `, or ${table}`).join("")}`;
}

/** Maximum number of tables that the message names. If more tables have the key, the message names none. */
const MAX_TABLES = 3;

function unknownKey(key: string, known: readonly string[]): string {
  const [near] = nearest(key, known, 1);
  if (near !== undefined) return `unknown key; did you mean \`${near}\`?`;
  return known.length === 0
    ? "unknown key; nothing is accepted here"
    : `unknown key; accepted are ${known.toSorted().join(", ")}`;
}

function describe(schema: OptionSchema): string {
  if (schema.const !== undefined) return show(schema.const);
  if (schema.enum) return `one of ${schema.enum.map((choice) => show(choice)).join(", ")}`;
  const words = {
    string: "a string",
    number: "a number",
    integer: "a whole number",
    boolean: "true or false",
    object: "a table",
    array: "a list",
  };
  return schema.type ? words[schema.type] : "another value";
}

/** The value of a secret option is never shown, even with the wrong type. */
function shown(value: unknown, { writeOnly }: Pick<OptionSchema, "writeOnly">): string {
  return writeOnly ? `another kind of value (${typeOf(value)})` : show(value);
}

/**
 * Returns a value for a message. Long values are truncated, and objects are only named, because they could contain a
 * secret.
 */
function show(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isJsonObject(value)) return "a table";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${firstChars(text, 57)}…"` : text;
}

/** Returns a path as text: `server.port`, `mcp.remote_servers[0].url`. */
export function formatPath(path: readonly string[]): string {
  return path.reduce(
    (text, step) => (/^\d+$/.test(step) ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
    "",
  );
}
