import { shortDigest } from "../json/digest.ts";

/**
 * A tool's identity is the pair (source, name), never a string. This file renders the pair for one surface without
 * looking at other tools; `NameBook` settles who gets a name that two of them want, and reads every spelling back.
 */
export type Surface = "mcp" | "binding" | "model";

/** What names are made of. Tool and prompt records both fit. */
export interface NameParts {
  readonly source: { readonly id: string; readonly namespace: string };
  readonly name: string;
  /** What callers see in place of `name`. */
  readonly alias?: string;
  /** The name carries its own prefix (`module.tool`), so none is put before it. */
  readonly qualified?: boolean;
  /** Further names that are understood and never shown. */
  readonly hiddenNames?: readonly string[];
}

/** Longest name that a caller may ask by, and longest that the binding surface shows. */
export const MAX_NAME_LENGTH = 1024;

export const DEFAULT_SEPARATOR = "__";
/** Stands between alias and name on the bindings surface. */
export const BINDING_SEPARATOR = "::";

/** Separators between namespace and name that every call surface understands, whatever the configured one is. */
export const READ_SEPARATORS: readonly string[] = ["::", "__", ".", "/"];

export interface NameRules {
  /** Matches each character that must not stand in a name. */
  readonly forbidden: RegExp;
  readonly maxLength: number;
  /** What the first character must be, if that is narrower; otherwise an underscore is put before it. */
  readonly start?: RegExp;
  /**
   * True: a replaced character is paid for with a digest, so that the name does not depend on which other tools there
   * are.
   */
  readonly marksReplacements: boolean;
}

/** What MCP allows since 2025-11-25: 1 to 128 of `[A-Za-z0-9_.-]`. */
export const MAX_MCP_NAME_LENGTH = 128;

const MCP_RULES: NameRules = { forbidden: /[^A-Za-z0-9_.-]/, maxLength: MAX_MCP_NAME_LENGTH, marksReplacements: true };

/** Any characters; bindings take names as they are. */
const BINDING_RULES: NameRules = { forbidden: /(?!)/, maxLength: MAX_NAME_LENGTH, marksReplacements: true };

/**
 * Function names that OpenAI, Anthropic, Mistral and Google all take: up to 64 of `[A-Za-z0-9_-]`, first a letter or an
 * underscore. One name for all of them, since a conversation may move from one vendor to another.
 */
const MODEL_RULES: NameRules = {
  forbidden: /[^A-Za-z0-9_-]/,
  maxLength: 64,
  start: /^[A-Za-z_]/,
  marksReplacements: false,
};

const NAME_RULES: Readonly<Record<Surface, NameRules>> = { mcp: MCP_RULES, binding: BINDING_RULES, model: MODEL_RULES };

/** How names look on the MCP surface. */
export interface McpNaming {
  /** Stands between namespace and name. */
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

/** The name that callers see, without any prefix. */
export function visibleName(record: NameParts): string {
  return record.alias ?? record.name;
}

/** A name for the MCP surface as if no other tool existed. */
export function renderMcpName(record: NameParts, naming: McpNaming): string {
  return fitName(prefixed(record, naming.separator), nameRules("mcp", naming), record);
}

/** A name for the bindings surface as if no other tool existed. */
export function renderBindingName(record: NameParts): string {
  return fitName(prefixed(record, BINDING_SEPARATOR), BINDING_RULES, record);
}

/** A name that a model's API takes, made of the name on the MCP surface. */
export function renderModelName(record: NameParts, mcpName: string): string {
  return fitName(mcpName, MODEL_RULES, record);
}

/** The name with its namespace, or with its source's id where it has none: what a shadowed tool answers to. */
export function renderQualifiedName(record: NameParts, naming: McpNaming, surface: Surface): string {
  const { id, namespace } = record.source;
  const hasPrefix = namespace !== "" && !record.qualified;
  const separator = surface === "binding" ? BINDING_SEPARATOR : naming.separator;
  const full = `${hasPrefix || namespace === "" ? id : namespace}${separator}${visibleName(record)}`;
  return fitName(full, nameRules(surface, naming), record);
}

/** What a surface makes of a text that stands before the separator. */
export function fitPrefix(text: string, surface: Surface, naming: McpNaming): string {
  if (surface === "binding" || text === "") return text;
  const forMcp = replaceForbidden(text, nameRules("mcp", naming).forbidden);
  if (surface === "mcp") return forMcp;
  const forModel = replaceForbidden(forMcp, MODEL_RULES.forbidden);
  return MODEL_RULES.start!.test(forModel) ? forModel : `_${forModel}`;
}

/** What a surface makes of the separator between namespace and name. */
export function fitSeparator(surface: Surface, { separator }: McpNaming): string {
  if (surface === "binding") return BINDING_SEPARATOR;
  return surface === "mcp" ? separator : replaceForbidden(separator, MODEL_RULES.forbidden);
}

/** Whether a record is shown without its source's prefix when no other record has a claim to its name. */
export function isUnprefixed({ source, qualified }: NameParts): boolean {
  return source.namespace === "" || qualified === true;
}

function prefixed(record: NameParts, separator: string): string {
  const name = visibleName(record);
  return isUnprefixed(record) ? name : `${record.source.namespace}${separator}${name}`;
}

/**
 * Makes a name obey the rules. Nothing is cut off silently: what had to be shortened ends in a digest of the identity.
 */
function fitName(name: string, rules: NameRules, record: NameParts): string {
  const isReplaced = rules.forbidden.test(name);
  let fitted = isReplaced ? replaceForbidden(name, rules.forbidden) : name;
  if (rules.start && !rules.start.test(fitted)) fitted = `_${fitted}`;
  const fits = fitted.length > 0 && fitted.length <= rules.maxLength;
  return fits && !(isReplaced && rules.marksReplacements) ? fitted : withDigest(fitted, rules, identityOf(record));
}

function replaceForbidden(name: string, forbidden: RegExp): string {
  return name.replaceAll(new RegExp(forbidden, "g"), "_");
}

// Written as JSON, since a lone surrogate would otherwise be hashed as the replacement character, and like any other
// one.
export function identityOf(record: NameParts): string {
  return JSON.stringify([record.source.id, record.name]);
}

/** The same with the digest between prefix and name, so that prefix and name do not look like another prefix. */
export function withDigestInside(
  [prefix, name]: readonly [string, string],
  rules: NameRules,
  identity: string,
): string {
  const start = prefix.slice(0, rules.maxLength - DIGEST_CHARS);
  const rest = rules.forbidden.test(name) ? replaceForbidden(name, rules.forbidden) : name;
  return `${start}${shortDigest(identity)}_${rest}`.slice(0, rules.maxLength);
}

/** A name that says nothing but whose it is. */
export function digestName(identity: string): string {
  return `n${shortDigest(identity)}`;
}

const DIGEST_CHARS = 8;

/** Shortens a name as far as needed and appends the digest of an identity. */
export function withDigest(name: string, rules: NameRules, identity: string): string {
  const suffix = `_${shortDigest(identity)}`;
  return `${name.slice(0, rules.maxLength - suffix.length)}${suffix}`;
}
