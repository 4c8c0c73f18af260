import { basename } from "node:path";
import { isJsonObject } from "../../core/json/json.ts";

/**
 * Translates the references that a client supports in its file (environment variables, files, its open folder) into the
 * syntax of `toolyard.toml`, so that a server gets the same values from the hub as from the client. The rules per
 * client come from each client's documentation and issue tracker, read in November 2026. Text that a client passes on
 * unchanged stays unchanged: `${X}` in a file of a client without variables becomes `$${X}`.
 */

/** Behaviour of a client for a reference to an unset variable. */
type Unset =
  /** Reports an error, or has no documented behaviour: the variable is required. */
  | "required"
  /** Inserts an empty text. */
  | "empty"
  /** Leaves the reference in the text. */
  | "literal";

/** Reference forms that a client supports. An absent form is plain text for the client. */
export interface VariableSyntax {
  /** Support for `${NAME}` and `${NAME:-default}`. */
  readonly braces?: Unset;
  /** Support for `$NAME`. */
  readonly bare?: Unset;
  /** Support for `${env:NAME}`. */
  readonly env?: Unset;
  /** Support for `{env:NAME}` and `{file:path}` (OpenCode). */
  readonly curly?: Unset;
  /** Support for `${file:path}`. */
  readonly file?: true;
  /** Support for `${workspaceFolder}`, `${userHome}`, `${input:id}` and the other variables of an editor. */
  readonly editor?: true;
}

const EDITOR: VariableSyntax = { env: "required", editor: true };
const VS_CODE: VariableSyntax = { env: "empty", editor: true };
const SHELL: VariableSyntax = { braces: "required", bare: "literal" };

const SYNTAXES: Readonly<Record<string, VariableSyntax>> = {
  "Claude Desktop": {},
  "Claude Code": { braces: "required" },
  "VS Code": VS_CODE,
  "VS Code settings": VS_CODE,
  "VS Code Insiders": VS_CODE,
  Cursor: EDITOR,
  Windsurf: { env: "required", file: true },
  Zed: {},
  "Gemini CLI": SHELL,
  Codex: {},
  OpenCode: { curly: "empty" },
  Cline: { env: "required" },
  "Roo Code": EDITOR,
  "LM Studio": {},
  Kiro: { ...SHELL, env: "required" },
  "Amazon Q": { ...SHELL, env: "required", file: true },
  "Copilot CLI": SHELL,
};

/** Syntax for files of an unknown client: every unambiguous form. */
const ANY_CLIENT: VariableSyntax = { braces: "required", env: "required", editor: true };

/**
 * Returns the syntax of a client by the program name in `known-files.ts`. For a file of an unknown program, the syntax
 * is derived from the key of its servers.
 */
export function variableSyntax(program: string, tree: Readonly<Record<string, unknown>>): VariableSyntax {
  return SYNTAXES[program.replace(/ \(this folder\)$/, "")] ?? SYNTAXES[programByContent(tree) ?? ""] ?? ANY_CLIENT;
}

function programByContent(tree: Readonly<Record<string, unknown>>): string | undefined {
  if (isJsonObject(tree["mcp_servers"])) return "Codex";
  if (isJsonObject(tree["context_servers"])) return "Zed";
  if (isJsonObject(tree["servers"])) return "VS Code";
  const { mcp, mcpServers } = tree;
  if (isJsonObject(mcp)) return isJsonObject(mcp["servers"]) ? "VS Code settings" : "OpenCode";
  const entries = isJsonObject(mcpServers) ? Object.values(mcpServers) : [];
  return entries.some((entry) => isJsonObject(entry) && "httpUrl" in entry) ? "Gemini CLI" : undefined;
}

export interface TranslationContext {
  readonly syntax: VariableSyntax;
  readonly program: string;
  /** Environment that decides which variables are set. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Folder to which the file belongs. Absent: the file belongs to the user and applies to every folder. */
  readonly workspace?: string | undefined;
  /**
   * Replacement of `${workspaceFolder}`: the folder's path, or the reference itself if the target is in the same
   * folder.
   */
  readonly workspaceReference?: string | undefined;
  /** Resolves the path in a file reference to an absolute path. */
  readonly resolveFile: (path: string) => string;
  readonly pathSeparator: string;
}

/** Result of translating one server. */
export interface Translation {
  readonly value: unknown;
  /** Unset variables that the server requires. */
  readonly missing: readonly string[];
  /** Reason why only the client can run the server. Absent: the hub can run it. */
  readonly refusal?: string;
}

/** Translates the references in every text below `value`. */
export function translateReferences(value: unknown, context: TranslationContext): Translation {
  const found: VariableFindings = { missing: new Set(), refusals: [] };
  const translated = translateTree(value, context, found);
  return { value: translated, missing: [...found.missing], ...(found.refusals[0] && { refusal: found.refusals[0] }) };
}

interface VariableFindings {
  readonly missing: Set<string>;
  readonly refusals: string[];
}

function translateTree(value: unknown, context: TranslationContext, found: VariableFindings): unknown {
  if (typeof value === "string") return translateText(value, context, found);
  if (Array.isArray(value)) return value.map((item) => translateTree(item, context, found));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, translateTree(item, context, found)]));
}

// Matches `${…}`, `{env:…}` and `{file:…}`, and `$NAME`. The text between the braces determines the form.
const REFERENCE = /\$\{(?<braces>[^{}]*)\}|\{(?<curly>(?:env|file):[^{}]*)\}|\$(?<bare>[A-Za-z_][A-Za-z0-9_]*)/g;

function translateText(text: string, context: TranslationContext, found: VariableFindings): string {
  let translated = "";
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    const reference = translateReference(match, context, found);
    if (reference === undefined) continue;
    const before = escapeLiteral(text.slice(end, match.index));
    // In `toolyard.toml`, `$${` is an escape, so a dollar sign directly before a reference cannot be expressed.
    if (before.endsWith("$") && reference.startsWith("${"))
      found.refusals.push(`it has a dollar sign directly before the reference ${match[0]}`);
    translated += before + reference;
    end = match.index + match[0].length;
  }
  return translated + escapeLiteral(text.slice(end));
}

/** Escapes text that looks like a reference of `toolyard.toml`, so that it is not expanded. */
function escapeLiteral(text: string): string {
  return text.replaceAll("${", "$$$${");
}

/** Returns the translation of one match, or undefined if it is plain text for the client. */
function translateReference(
  match: RegExpMatchArray,
  context: TranslationContext,
  found: VariableFindings,
): string | undefined {
  const { braces, curly, bare } = match.groups ?? {};
  const { syntax } = context;
  const use = { whole: match[0], context, found };
  if (bare !== undefined) return variableReference(syntax.bare, bare, use);
  if (braces !== undefined) return bracedReference(braces, use);
  const [scheme, rest] = splitScheme(curly ?? "");
  return scheme === "file" ? syntax.curly && fileReference(rest, context) : variableReference(syntax.curly, rest, use);
}

/** A reference, with the complete text that contains it. */
interface Use {
  readonly whole: string;
  readonly context: TranslationContext;
  readonly found: VariableFindings;
}

function bracedReference(inner: string, use: Use): string | undefined {
  const { context } = use;
  const { syntax } = context;
  const [scheme, rest] = splitScheme(inner);
  if (scheme === "env") return variableReference(syntax.env, rest, use);
  if (scheme === "file") return syntax.file && fileReference(rest, context);
  const editor = syntax.editor && editorReference(scheme, rest, use);
  return editor ?? (scheme === "" ? variableReference(syntax.braces, rest, use) : undefined);
}

/** Splits a reference: `env:HOME` into `["env", "HOME"]`, `HOME:-x` into `["", "HOME:-x"]`. */
function splitScheme(inner: string): readonly [scheme: string, rest: string] {
  const at = inner.search(/:(?!-)/);
  return at > 0 ? [inner.slice(0, at), inner.slice(at + 1)] : ["", inner];
}

const VARIABLE = /^(?<name>[A-Za-z_][A-Za-z0-9_.-]*?)(?::-(?<fallback>.*))?$/s;

/**
 * Translates a variable. `inner` is `NAME` or `NAME:-default`. Returns undefined if the client does not support this
 * form.
 */
function variableReference(form: Unset | undefined, inner: string, { whole, context, found }: Use): string | undefined {
  const { name, fallback } = VARIABLE.exec(inner)?.groups ?? {};
  if (form === undefined || name === undefined) return undefined;
  if (fallback !== undefined) return `\${${name}:-${fallback}}`;
  // A variable that is set now gets no default, so that the hub reports it if it is unset later.
  if (context.variables[name] !== undefined) return `\${${name}}`;
  if (form === "empty") return `\${${name}:-}`;
  if (form === "literal" && !whole.includes("}")) return `\${${name}:-${whole}}`;
  found.missing.add(name);
  return `\${${name}}`;
}

function fileReference(path: string, { resolveFile }: TranslationContext): string {
  return `\${file:${resolveFile(path)}}`;
}

/** Translates the variables of VS Code and related editors. Returns undefined for a name that no client uses. */
function editorReference(scheme: string, name: string, { whole, context, found }: Use): string | undefined {
  const { workspace, workspaceReference, program, pathSeparator } = context;
  if (scheme === "input") {
    const variable = inputVariable(name);
    found.missing.add(variable);
    return `\${${variable}}`;
  }
  const known: Readonly<Record<string, string | undefined>> = {
    userHome: whole,
    pathSeparator,
    "/": pathSeparator,
    workspaceFolder: workspaceReference,
    workspaceFolderBasename: workspace && basename(workspace),
  };
  if (scheme === "" && Object.hasOwn(known, name) && known[name] !== undefined) return known[name];
  if (!ONLY_IN_THE_EDITOR.has(scheme === "" ? name : `${scheme}:`)) return undefined;
  found.refusals.push(`it uses ${whole}, which only ${program} can resolve`);
  return whole;
}

/** Names of references, and prefixes with their colon, whose values only the editor can determine. */
const ONLY_IN_THE_EDITOR = new Set(
  (
    "workspaceFolder workspaceFolder: workspaceFolderBasename workspaceRoot cwd file fileBasename " +
    "fileBasenameNoExtension fileDirname fileExtname fileWorkspaceFolder relativeFile relativeFileDirname lineNumber " +
    "selectedText execPath defaultBuildTask config: command:"
  ).split(" "),
);

/** Returns the variable that replaces an input. The hub cannot prompt a user for a value. */
function inputVariable(id: string): string {
  return id
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_");
}
