import { resolve } from "node:path";
import { expandHome } from "../core/home-path.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { readText } from "../files/read-text.ts";

/** Variables, and the folder to which `{file = "…"}` refers. */
export interface ExpandContext {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** Called with the text of each file from which a value is read, because such texts are secrets. */
  onFile?(text: string): void;
  /** Called with each variable that a value refers to. */
  onVariable?(name: string, value: string): void;
}

/**
 * Thrown for a value that cannot be resolved: an unset variable, an unreadable file, or an input that requires a user.
 */
export class MissingValue extends Error {
  override readonly name = "MissingValue";
}

// Matches `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${env:VAR:-default}`, `${input:id}`, `${file:path}`. `$${` is a
// literal `${`.
const REFERENCE =
  /^(?:\$\$\{|\$\{file:(?<file>[^}]{1,1024})\}|\$\{(?:(?<scheme>env|input):)?(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,255})(?::-(?<fallback>[^}]{0,8192}))?\})$/;
/** Maximum length of a reference. It admits the longest name and fallback. */
const MAX_REFERENCE_CHARS = 8_500;

interface VariableReference {
  readonly file?: string | undefined;
  readonly scheme?: string | undefined;
  /** Name of the variable. Both `name` and `file` are absent for `$${`, which is an escaped `${`. */
  readonly name?: string | undefined;
  readonly fallback?: string | undefined;
}

interface FoundReference {
  readonly at: number;
  readonly whole: string;
  readonly reference: VariableReference;
}

/**
 * Yields the references in a text, in order. Matches each text from `${` to the next `}` separately, because a single
 * pattern over the whole text would take quadratic time.
 */
function* referencesIn(text: string): Generator<FoundReference> {
  let close = text.indexOf("}");
  for (let at = text.indexOf("${"); at !== -1; at = text.indexOf("${", at)) {
    const isEscaped = text[at - 1] === "$";
    if (close !== -1 && close < at) close = text.indexOf("}", at);
    const isShort = close !== -1 && close - at < MAX_REFERENCE_CHARS;
    const whole = isEscaped ? "$${" : isShort ? text.slice(at, close + 1) : "";
    const match = REFERENCE.exec(whole);
    if (match) yield { at: isEscaped ? at - 1 : at, whole, reference: match.groups ?? {} };
    at += isEscaped || !match ? 2 : whole.length;
  }
}

/** Replaces the references in one string. Rejects with a `MissingValue` that names the variable or file. */
async function expandString(text: string, context: ExpandContext): Promise<string> {
  if (!text.includes("${")) return text;
  let expanded = "";
  let end = 0;
  for (const { at, whole, reference } of referencesIn(text)) {
    expanded += text.slice(end, at) + (await expandReference(reference, context));
    end = at + whole.length;
  }
  return expanded + text.slice(end);
}

async function expandReference(
  { file, scheme, name, fallback }: VariableReference,
  context: ExpandContext,
): Promise<string> {
  if (file !== undefined) return readSecretFile(file, context);
  if (name === undefined) return "${";
  if (scheme === "input") throw new MissingValue(inputMessage(name));
  const value = context.variables[name] ?? wellKnown(name, context);
  if (value !== undefined && (value !== "" || fallback === undefined)) {
    context.onVariable?.(name, value);
    return value;
  }
  if (fallback !== undefined) return fallback;
  throw new MissingValue(`the variable ${name} is not set; set it, or write \${${name}:-default}.`);
}

function inputMessage(name: string): string {
  const variable = name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  return (
    `\`\${input:${name}}\` prompts a user, which a server cannot do; ` +
    `set the variable ${variable} and write \`\${env:${variable}}\` instead.`
  );
}

/**
 * Returns the value of an editor's variable if the variable has a meaning outside the editor, such as the home folder.
 */
function wellKnown(name: string, context: ExpandContext): string | undefined {
  if (name === "workspaceFolder")
    return context.folder.endsWith(".vscode") ? resolve(context.folder, "..") : context.folder;
  if (name === "userHome") return context.variables["HOME"] ?? context.variables["USERPROFILE"];
  return undefined;
}

/** Expands every string below `value`. A `{file = "…"}` object becomes the file's text without its last line break. */
export async function expandTree(value: unknown, context: ExpandContext): Promise<unknown> {
  if (typeof value === "string") return expandString(value, context);
  if (Array.isArray(value)) return Promise.all(value.map((item) => expandTree(item, context)));
  if (!isJsonObject(value)) return value;
  if (isFileReference(value)) return readSecretFile(await expandString(value.file, context), context);
  const members = await Promise.all(
    Object.entries(value).map(async ([key, member]) => [key, await expandTree(member, context)] as const),
  );
  return Object.fromEntries(members);
}

function isFileReference(value: JsonObject): value is { file: string } {
  return Object.keys(value).length === 1 && typeof value["file"] === "string";
}

/**
 * Returns the variables and files that a value refers to, as written, without their values. Public variables are
 * omitted.
 */
export function takenInto(value: unknown): readonly string[] {
  if (typeof value === "string")
    return Array.from(referencesIn(value), ({ reference }) => nameTaken(reference)).filter((name) => name !== "");
  if (Array.isArray(value)) return value.flatMap(takenInto);
  if (!isJsonObject(value)) return [];
  return isFileReference(value) ? [`the file ${value.file}`] : Object.values(value).flatMap(takenInto);
}

function nameTaken({ file, scheme, name }: VariableReference): string {
  if (file !== undefined) return `the file ${file}`;
  return name === undefined || scheme === "input" || name === "workspaceFolder" ? "" : `\${${name}}`;
}

const MAX_SECRET_BYTES = 64 * 1024;

async function readSecretFile(file: string, context: ExpandContext): Promise<string> {
  const path = resolve(context.folder, expandHome(file));
  const text = await readText(path, { maxBytes: MAX_SECRET_BYTES }).catch((error: NodeJS.ErrnoException) => {
    throw new MissingValue(
      `the file ${file} cannot be read (${error.code ?? "unknown error"}). Check its path and permissions.`,
    );
  });
  if (text.length > MAX_SECRET_BYTES)
    throw new MissingValue(`the file ${file} is over ${MAX_SECRET_BYTES} bytes; a secret is one line.`);
  const secret = text.replace(/\r?\n$/, "");
  context.onFile?.(secret);
  return secret;
}
