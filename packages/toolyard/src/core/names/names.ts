import { shortDigest } from "../json/digest.ts";
import { transliterate } from "./transliteration.ts";

/**
 * Forms of a tool's name: for MCP, for the bindings, and for model APIs. The identity of a tool is the pair (source,
 * name), never a string. This file renders the pair for one surface without considering other tools; `NameBook`
 * resolves conflicts between names and reads every spelling.
 */
export type Surface = "mcp" | "binding" | "model";

/** Parts of a name. Records of tools and prompts both have them. */
export interface NameParts {
  readonly source: { readonly id: string; readonly namespace: string };
  readonly name: string;
  /** Configured name that callers see instead of `name`. */
  readonly alias?: string;
  /** True if the name contains its prefix (`module.tool`), so that no prefix is added. */
  readonly qualified?: boolean;
  /** Further names by which the record is found, and which are never shown. */
  readonly hiddenNames?: readonly string[];
}

/** Maximum length of the name in a call, and of a name that the bindings show, in characters. */
export const MAX_NAME_LENGTH = 1024;

export const DEFAULT_SEPARATOR = "__";
/** Separator between alias and name in the bindings. */
export const BINDING_SEPARATOR = "::";

/** Separators between namespace and name that are understood in every call, besides the configured one. */
export const READ_SEPARATORS: readonly string[] = ["::", "__", ".", "/"];

export interface NameRules {
  /** Matches each character that a name must not contain. */
  readonly forbidden: RegExp;
  readonly maxLength: number;
  /**
   * Pattern for the first character, if fewer characters are allowed there. A name that does not match gets an
   * underscore as prefix.
   */
  readonly start?: RegExp;
  /** True if a name with a replaced character gets a digest, so that the name does not depend on other tools. */
  readonly marksReplacements: boolean;
}

/** Maximum length of a name in MCP since 2025-11-25, which allows 1 to 128 of `[A-Za-z0-9_.-]`. */
export const MAX_MCP_NAME_LENGTH = 128;

const MCP_RULES: NameRules = { forbidden: /[^A-Za-z0-9_.-]/, maxLength: MAX_MCP_NAME_LENGTH, marksReplacements: true };

/** Rules for the bindings, which accept all characters. */
const BINDING_RULES: NameRules = { forbidden: /(?!)/, maxLength: MAX_NAME_LENGTH, marksReplacements: true };

/**
 * Rules for function names that OpenAI, Anthropic, Mistral and Google all accept: up to 64 of `[A-Za-z0-9_-]`, starting
 * with a letter or an underscore. All vendors get the same name, since a conversation may move from one to another.
 */
const MODEL_RULES: NameRules = {
  forbidden: /[^A-Za-z0-9_-]/,
  maxLength: 64,
  start: /^[A-Za-z_]/,
  marksReplacements: false,
};

const NAME_RULES: Readonly<Record<Surface, NameRules>> = { mcp: MCP_RULES, binding: BINDING_RULES, model: MODEL_RULES };

/** Form of MCP names. */
export interface McpNaming {
  /** Text between namespace and name. */
  readonly separator: string;
  /** Length in characters to which longer names are shortened; at most 128. */
  readonly maxLength: number;
}

export const DEFAULT_NAMING: McpNaming = Object.freeze({
  separator: DEFAULT_SEPARATOR,
  maxLength: MAX_MCP_NAME_LENGTH,
});

export function nameRules(surface: Surface, { maxLength }: McpNaming): NameRules {
  return surface === "mcp" && maxLength < MAX_MCP_NAME_LENGTH ? { ...MCP_RULES, maxLength } : NAME_RULES[surface];
}

/** Returns the name that callers see, without prefix. */
export function visibleName(record: NameParts): string {
  return record.alias ?? record.name;
}

/** Returns the MCP name of a record, without considering other tools. */
export function renderMcpName(record: NameParts, naming: McpNaming): string {
  return fitName(prefixed(record, naming.separator), nameRules("mcp", naming), record);
}

/** Returns the name of a record in the bindings, without considering other tools. */
export function renderBindingName(record: NameParts): string {
  return fitName(prefixed(record, BINDING_SEPARATOR), BINDING_RULES, record);
}

/** Returns a name that model APIs accept, derived from the MCP name. */
export function renderModelName(record: NameParts, mcpName: string): string {
  return fitName(mcpName, MODEL_RULES, record);
}

/**
 * Returns the name with the source's id as prefix, or with the source's namespace if the name already contains the
 * prefix of a module. A shadowed tool is found by this name.
 */
export function renderQualifiedName(record: NameParts, naming: McpNaming, surface: Surface): string {
  const { id, namespace } = record.source;
  const hasPrefix = namespace !== "" && !record.qualified;
  const separator = surface === "binding" ? BINDING_SEPARATOR : naming.separator;
  const full = `${hasPrefix || namespace === "" ? id : namespace}${separator}${visibleName(record)}`;
  return fitName(full, nameRules(surface, naming), record);
}

/** Returns the form that a surface gives to the text before the separator. */
export function fitPrefix(text: string, surface: Surface, naming: McpNaming): string {
  if (surface === "binding" || text === "") return text;
  const forMcp = transliterate(text, nameRules("mcp", naming).forbidden);
  if (surface === "mcp") return forMcp;
  const forModel = transliterate(forMcp, MODEL_RULES.forbidden);
  return MODEL_RULES.start!.test(forModel) ? forModel : `_${forModel}`;
}

/** Returns the form that a surface gives to the separator between namespace and name. */
export function fitSeparator(surface: Surface, { separator }: McpNaming): string {
  if (surface === "binding") return BINDING_SEPARATOR;
  return surface === "mcp" ? separator : transliterate(separator, MODEL_RULES.forbidden);
}

/** Returns true if a record without a name conflict is shown without its source's prefix. */
export function isUnprefixed({ source, qualified }: NameParts): boolean {
  return source.namespace === "" || qualified === true;
}

function prefixed(record: NameParts, separator: string): string {
  const name = visibleName(record);
  return isUnprefixed(record) ? name : `${record.source.namespace}${separator}${name}`;
}

/** Changes a name so that it follows the rules. A shortened name ends with a digest of the record's identity. */
function fitName(name: string, rules: NameRules, record: NameParts): string {
  const isReplaced = rules.forbidden.test(name);
  let fitted = isReplaced ? transliterate(name, rules.forbidden) : name;
  if (rules.start && !rules.start.test(fitted)) fitted = `_${fitted}`;
  const fits = fitted.length > 0 && fitted.length <= rules.maxLength;
  return fits && !(isReplaced && rules.marksReplacements) ? fitted : withDigest(fitted, rules, identityOf(record));
}

// The identity is JSON: in plain text, all lone surrogates would be hashed as the same replacement character.
export function identityOf(record: NameParts): string {
  return JSON.stringify([record.source.id, record.name]);
}

/**
 * Returns a name with the digest between prefix and name, so that prefix and name together do not look like another
 * prefix.
 */
export function withDigestInside(
  [prefix, name]: readonly [string, string],
  rules: NameRules,
  identity: string,
): string {
  const start = prefix.slice(0, rules.maxLength - DIGEST_CHARS);
  const rest = rules.forbidden.test(name) ? transliterate(name, rules.forbidden) : name;
  return `${start}${shortDigest(identity)}_${rest}`.slice(0, rules.maxLength);
}

/** Returns a name that consists only of the identity's digest. */
export function digestName(identity: string): string {
  return `n${shortDigest(identity)}`;
}

const DIGEST_CHARS = 8;

/** Shortens a name to the limit and appends the digest of the record's identity. */
export function withDigest(name: string, rules: NameRules, identity: string): string {
  const suffix = `_${shortDigest(identity)}`;
  return `${name.slice(0, rules.maxLength - suffix.length)}${suffix}`;
}
