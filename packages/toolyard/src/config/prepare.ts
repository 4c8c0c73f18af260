import { resolve } from "node:path";
import { expandHome } from "../core/home-path.ts";
import { isJsonObject } from "../core/json/json.ts";
import { valuesOf, type OptionSchema, type SourceTable } from "../core/options/option-schema.ts";
import { argumentSecrets, declaredSecrets, settingSecrets } from "../telemetry/secret-settings.ts";
import { expandTree, MissingValue, type ExpandContext } from "./expand.ts";
import { entriesOf, entrySchema, switchedOff, type UnusableSource } from "./source-tables.ts";
import { withVariablesFile } from "./variables-file.ts";

export interface PrepareContext extends ExpandContext {
  /** All resolved secrets, which are redacted in all output. */
  readonly secrets: Set<string>;
  /** Key in a table that accepts any key: the name of a variable or header. */
  readonly setting?: string;
  /**
   * List to which sources that cannot be resolved are added; their entries may be incomplete. Absent for values that do
   * not come from a file.
   */
  readonly unusable?: UnusableSource[];
}

/**
 * Prepares a value of the configuration for use: expands references, reads `{file}`, converts text from a variable to
 * the number or boolean that the schema requires, resolves paths from the file's folder, and records secrets. Values
 * unknown to the schema are unchanged; the check reports them. Throws a `MissingValue`.
 */
export async function prepareValue(
  value: unknown,
  schema: OptionSchema | undefined,
  context: PrepareContext,
): Promise<unknown> {
  const chosen = schema && chooseMember(value, schema);
  return prepareMembers(value, chosen, context) ?? prepareScalar(value, chosen, context);
}

/** Prepares the members of a value. Returns `undefined` for a value without members, such as a text or a `{file}`. */
function prepareMembers(
  value: unknown,
  schema: OptionSchema | undefined,
  context: PrepareContext,
): Promise<unknown> | undefined {
  const table = schema?.["~sources"];
  if (table && (Array.isArray(value) || isJsonObject(value))) return prepareSources(value, { table, schema }, context);
  if (isJsonObject(value)) return schema?.type === "object" ? prepareObject(value, schema, context) : undefined;
  if (!Array.isArray(value)) return undefined;
  for (const [at, item] of value.entries()) noteAll(context, argumentSecrets(value[at - 1], item));
  return Promise.all(value.map((item) => prepareValue(item, schema?.items, context)));
}

async function prepareScalar(
  value: unknown,
  chosen: OptionSchema | undefined,
  context: PrepareContext,
): Promise<unknown> {
  const expanded = await expandTree(value, { ...context, ...notesOf(context) });
  if (typeof expanded !== "string" || chosen === undefined) return expanded;
  if (chosen.writeOnly)
    noteAll(context, secretsOf(expanded, { ...context, schema: chosen, isReference: isReference(value) }));
  if (chosen.format === "path") return resolve(context.folder, expandHome(expanded));
  return isReference(value) ? fromText(expanded, chosen) : expanded;
}

function notesOf(context: PrepareContext): Pick<ExpandContext, "onFile" | "onVariable"> {
  return {
    onFile: (text) => noteAll(context, declaredSecrets(text)),
    onVariable: (name, text) => noteAll(context, settingSecrets(name, text)),
  };
}

function noteAll({ secrets }: PrepareContext, found: readonly string[]): void {
  for (const secret of found) secrets.add(secret);
}

function isReference(value: unknown): boolean {
  return typeof value === "string" && value.includes("${");
}

interface SettingNote {
  readonly setting?: string;
  readonly schema: OptionSchema;
  readonly isReference: boolean;
}

/**
 * Returns the secrets in a text. An option that is marked as secret is a secret as a whole; for a variable or header,
 * its name and value decide.
 */
function secretsOf(text: string, { setting, schema, isReference }: SettingNote): readonly string[] {
  if (setting === undefined) return declaredSecrets(text);
  return settingSecrets(setting, text, isReference && !schema["~variable"] ? "mentioned" : "none");
}

interface SourcesSchema {
  readonly table: SourceTable;
  readonly schema: OptionSchema;
}

/** Prepares the entries of a table of sources. A reference that cannot be resolved disables only its own source. */
async function prepareSources(
  value: object,
  { table, schema }: SourcesSchema,
  context: PrepareContext,
): Promise<unknown> {
  const own = entrySchema(schema);
  const prepared = await Promise.all(
    entriesOf(value, table).map(async ({ name, step, value: entry }) => ({
      name,
      step,
      ...(await prepareEntry(entry, { table, schema: own }, context)),
    })),
  );
  for (const { name: id, missing } of prepared)
    if (missing !== undefined) context.unusable?.push({ id, kind: table.kind, reason: missing });
  const usable = prepared.filter(({ missing }) => missing === undefined);
  return Array.isArray(value)
    ? usable.map(({ entry }) => entry)
    : Object.fromEntries(usable.map(({ step, entry }) => [step, entry]));
}

async function prepareEntry(
  entry: unknown,
  { table, schema }: { readonly table: SourceTable; readonly schema: OptionSchema | undefined },
  context: PrepareContext,
): Promise<{ readonly entry?: unknown; readonly missing?: string }> {
  if (!context.unusable) return { entry: await prepareValue(await filled(entry, table, context), schema, context) };
  if (isJsonObject(entry) && entry["enabled"] === false) return { entry: switchedOff(entry, table) };
  try {
    const whole = await filled(isJsonObject(entry) ? { ...table.base, ...entry } : entry, table, context);
    return { entry: await prepareValue(whole, schema, context) };
  } catch (error) {
    if (error instanceof MissingValue) return { missing: error.message };
    throw error;
  }
}

async function filled(entry: unknown, { variablesFile }: SourceTable, context: PrepareContext): Promise<unknown> {
  return variablesFile && isJsonObject(entry) ? withVariablesFile(entry, variablesFile, context) : entry;
}

async function prepareObject(
  value: Record<string, unknown>,
  schema: OptionSchema,
  context: PrepareContext,
): Promise<unknown> {
  const rest = valuesOf(schema);
  const members: [string, unknown][] = [];
  // The members are processed one after another, so that problems are reported in file order.
  for (const [key, member] of Object.entries(value)) {
    const isNamed = schema.properties && Object.hasOwn(schema.properties, key);
    const own = isNamed ? schema.properties[key] : rest;
    const noting = isNamed ? context : { ...context, setting: key };
    members.push([key, await prepareValue(member, own, noting)]);
  }
  return Object.fromEntries(members);
}

function chooseMember(value: unknown, schema: OptionSchema): OptionSchema {
  if (!schema.anyOf) return schema;
  const type = Array.isArray(value) ? "array" : isJsonObject(value) ? "object" : typeof value;
  const same = schema.anyOf.filter(
    (member) => member.type === type || (type === "number" && member.type === "integer"),
  );
  return same[0] ?? schema.anyOf[0] ?? schema;
}

/**
 * Converts a variable's text if a number or boolean is required. Other text is unchanged, and the check reports it.
 */
export function fromText(text: string, schema: OptionSchema): unknown {
  const types = schema.anyOf ? schema.anyOf.map((member) => member.type) : [schema.type];
  if (types.includes("string")) return text;
  if (types.includes("boolean") && /^(true|false|1|0|yes|no)$/i.test(text)) return /^(true|1|yes)$/i.test(text);
  if ((types.includes("integer") || types.includes("number")) && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  if (types.includes("array"))
    return text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  return text;
}
