import { shortDigest } from "../json/digest.ts";
import { transliterate } from "./transliteration.ts";

/**
 * A tool's identity is the pair (source, name), never a string. This file renders the pair for one surface without
 * regard to other tools; `NameBook` resolves conflicts between names and reads every spelling.
 */
export type Surface = "mcp" | "binding" | "model";

/** The parts of a name. Tool and prompt records both have them. */
export interface NameParts {
  readonly source: { readonly id: string; readonly namespace: string };
  readonly name: string;
  /** The name that callers see instead of `name`. */
  readonly alias?: string;
  /** The name contains its own prefix (`module.tool`), so none is added. */
  readonly qualified?: boolean;
  /** Further names that are understood and never shown. */
  readonly hiddenNames?: readonly string[];
}

/** Longest name that a caller may use, and longest that the binding surface shows, in characters. */
export const MAX_NAME_LENGTH = 1024;

export const DEFAULT_SEPARATOR = "__";
/** Separator between alias and name on the bindings surface. */
export const BINDING_SEPARATOR = "::";

/** Separators between namespace and name that every call surface understands, besides the configured one. */
export const READ_SEPARATORS: readonly string[] = ["::", "__", ".", "/"];

export interface NameRules {
  /** Matches each character that a name must not contain. */
  readonly forbidden: RegExp;
  readonly maxLength: number;
  /** Required form of the first character, if it is stricter; otherwise an underscore is prepended. */
  readonly start?: RegExp;
  /** True: a name with a replaced character gets a digest, so that it does not depend on other tools. */
  readonly marksReplacements: boolean;
}

/** Names that MCP allows since 2025-11-25: 1 to 128 of `[A-Za-z0-9_.-]`. */
export const MAX_MCP_NAME_LENGTH = 128;

const MCP_RULES: NameRules = { forbidden: /[^A-Za-z0-9_.-]/, maxLength: MAX_MCP_NAME_LENGTH, marksReplacements: true };

/** Any characters; bindings accept names unchanged. */
const BINDING_RULES: NameRules = { forbidden: /(?!)/, maxLength: MAX_NAME_LENGTH, marksReplacements: true };

/**
 * Function names that OpenAI, Anthropic, Mistral and Google all accept: up to 64 of `[A-Za-z0-9_-]`, starting with a
 * letter or an underscore. One name for all vendors, since a conversation may move from one to another.
 */
const MODEL_RULES: NameRules = {
  forbidden: /[^A-Za-z0-9_-]/,
  maxLength: 64,
  start: /^[A-Za-z_]/,
  marksReplacements: false,
};

const NAME_RULES: Readonly<Record<Surface, NameRules>> = { mcp: MCP_RULES, binding: BINDING_RULES, model: MODEL_RULES };

/** Form of names on the MCP surface. */
export interface McpNaming {
  /** Text between namespace and name. */
  readonly separator: string;
  /** Longer names are shortened; 128 at most. */
  readonly maxLength: number;
}

export const DEFAULT_NAMING: McpNaming = Object.freeze({
  separator: DEFAULT_SEPARATOR,
  maxLength: MAX_MCP_NAME_LENGTH,
});

export function nameRules(surface: Surface, { maxLength }: McpNaming): NameRules {
  return surface === "mcp" && maxLength < MAX_MCP_NAME_LENGTH ? { ...MCP_RULES, maxLength } : NAME_RULES[surface];
}

/** Returns the name that callers see, without any prefix. */
export function visibleName(record: NameParts): string {
  return record.alias ?? record.name;
}

/** Returns a name for the MCP surface, without regard to other tools. */
export function renderMcpName(record: NameParts, naming: McpNaming): string {
  return fitName(prefixed(record, naming.separator), nameRules("mcp", naming), record);
}

/** Returns a name for the bindings surface, without regard to other tools. */
export function renderBindingName(record: NameParts): string {
  return fitName(prefixed(record, BINDING_SEPARATOR), BINDING_RULES, record);
}

/** Returns a name that a model's API accepts, derived from the name on the MCP surface. */
export function renderModelName(record: NameParts, mcpName: string): string {
  return fitName(mcpName, MODEL_RULES, record);
}

/** Returns the name with its namespace, or with its source's id if it has none: a shadowed tool answers to it. */
export function renderQualifiedName(record: NameParts, naming: McpNaming, surface: Surface): string {
  const { id, namespace } = record.source;
  const hasPrefix = namespace !== "" && !record.qualified;
  const separator = surface === "binding" ? BINDING_SEPARATOR : naming.separator;
  const full = `${hasPrefix || namespace === "" ? id : namespace}${separator}${visibleName(record)}`;
  return fitName(full, nameRules(surface, naming), record);
}

/** Returns a surface's form of a text before the separator. */
export function fitPrefix(text: string, surface: Surface, naming: McpNaming): string {
  if (surface === "binding" || text === "") return text;
  const forMcp = transliterate(text, nameRules("mcp", naming).forbidden);
  if (surface === "mcp") return forMcp;
  const forModel = transliterate(forMcp, MODEL_RULES.forbidden);
  return MODEL_RULES.start!.test(forModel) ? forModel : `_${forModel}`;
}

/** Returns a surface's form of the separator between namespace and name. */
export function fitSeparator(surface: Surface, { separator }: McpNaming): string {
  if (surface === "binding") return BINDING_SEPARATOR;
  return surface === "mcp" ? separator : transliterate(separator, MODEL_RULES.forbidden);
}

/** Returns whether a record without a name conflict is shown without its source's prefix. */
export function isUnprefixed({ source, qualified }: NameParts): boolean {
  return source.namespace === "" || qualified === true;
}

function prefixed(record: NameParts, separator: string): string {
  const name = visibleName(record);
  return isUnprefixed(record) ? name : `${record.source.namespace}${separator}${name}`;
}

/** Changes a name so that it follows the rules. A shortened name ends in a digest of the identity. */
function fitName(name: string, rules: NameRules, record: NameParts): string {
  const isReplaced = rules.forbidden.test(name);
  let fitted = isReplaced ? transliterate(name, rules.forbidden) : name;
  if (rules.start && !rules.start.test(fitted)) fitted = `_${fitted}`;
  const fits = fitted.length > 0 && fitted.length <= rules.maxLength;
  return fits && !(isReplaced && rules.marksReplacements) ? fitted : withDigest(fitted, rules, identityOf(record));
}

// Written as JSON, since a lone surrogate would otherwise be hashed as the replacement character, and so equal any
// other.
export function identityOf(record: NameParts): string {
  return JSON.stringify([record.source.id, record.name]);
}

/** Does the same with the digest between prefix and name, so that both together do not look like another prefix. */
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

/** Shortens a name to the limit and appends the digest of an identity. */
export function withDigest(name: string, rules: NameRules, identity: string): string {
  const suffix = `_${shortDigest(identity)}`;
  return `${name.slice(0, rules.maxLength - suffix.length)}${suffix}`;
}
