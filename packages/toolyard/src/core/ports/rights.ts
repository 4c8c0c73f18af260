import { matchesAnyGlob, matchesGlob } from "../text/glob.ts";
import { looselyMatches, looseName } from "../loose-name.ts";
import { parseUri, type ResourceUri } from "../uris/resource-uri.ts";
import { withUriPrefix } from "../uris/uri-prefix.ts";
import { carelessPattern, patternForms, readingWithoutUser, readUri, type UriReadings } from "../uris/uri-readings.ts";

/** No restriction. */
export const EVERYTHING = "everything";

/** The rights of a principal. Only `permissionOf` reads them. */
export type Rights = typeof EVERYTHING | NarrowRights;

/**
 * Patterns are globs over rendered names of tools and prompts, and over URIs. One that begins with a namespace matches
 * the tools of that namespace's source; one over URIs matches scheme, authority and path.
 */
export interface NarrowRights {
  /** Absent: everything that is not denied. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Only tools that are read-only by annotation. @default false */
  readonly readOnly?: boolean;
}

/** The thing that rights are checked against. */
export type Subject = NamedSubject | UriSubject;

/** A tool or a prompt. */
export interface NamedSubject {
  readonly type: "name";
  /** The shown name. */
  readonly name: string;
  /** The name that it would have without conflicts. */
  readonly ownName: string;
  /** The prefixes that the hub added in `name` or in `ownName`, with the separator. */
  readonly prefixes: readonly string[];
  /** Prefixes of another source with which its name begins. @default none */
  readonly looksLike?: readonly string[];
  /** Text between a namespace and a name in this hub. */
  readonly separator: string;
  /** True if it changes nothing, by its annotations. Prompts never do. */
  readonly isReadOnly: boolean;
  /** True if it gives no access itself: its targets are checked separately. */
  readonly isDiscovery: boolean;
  /** True if no list shows it, so that its server may read the name differently from the hub. @default false */
  readonly isUnlisted?: boolean;
}

export interface UriSubject {
  readonly type: "uri";
  /** The URI that callers see. */
  readonly shown: string;
  /** The URI that its source gets. */
  readonly own: string;
  /** Distinguishes this source's URIs from all others (`alias+`), whether it is shown or not. */
  readonly prefix: string;
  /** True for a template, of which only the text is checked: URIs read by it are checked separately. @default false */
  readonly isTemplate?: boolean;
}

/** The permissions of one caller. */
export interface Permission {
  /** Equal rights have equal keys, for all principals. */
  readonly key: string;
  /** True if this caller may not use everything. */
  readonly isNarrowed: boolean;
  permits(subject: Subject): boolean;
  /**
   * Returns whether a caller may learn that no tool or prompt has this name. Depends only on the name, so that existing
   * and missing ones get the same answer.
   */
  mayBeKnown(name: string, separator: string): boolean;
}

const ALL_PERMITTED: Permission = Object.freeze({
  key: EVERYTHING,
  isNarrowed: false,
  permits: () => true,
  mayBeKnown: () => true,
});
const known = new WeakMap<NarrowRights, Permission>();

/** Returns the permissions that rights grant; the only code that interprets rights. */
export function permissionOf(rights: Rights): Permission {
  if (rights === EVERYTHING) return ALL_PERMITTED;
  let permission = known.get(rights);
  if (!permission) known.set(rights, (permission = compile(rights)));
  return permission;
}

/** Returns the rights with these restrictions: `everything` if there are none. */
export function rightsWithin({ allow, deny = [], readOnly = false }: NarrowRights): Rights {
  if (allow === undefined && deny.length === 0 && !readOnly) return EVERYTHING;
  return Object.freeze({ ...(allow && { allow }), ...(deny.length > 0 && { deny }), ...(readOnly && { readOnly }) });
}

/** Returns the same rights, restricted to read-only tools. */
export function readOnlyRights(rights: Rights): Rights {
  return rightsWithin({ ...(rights === EVERYTHING ? {} : rights), readOnly: true });
}

interface CompiledRights {
  readonly allow: readonly NamePattern[] | undefined;
  readonly deny: readonly NamePattern[];
  readonly readOnly: boolean;
  readonly hasUriPatterns: boolean;
}

function compile({ allow, deny = [], readOnly = false }: NarrowRights): Permission {
  const rights: CompiledRights = {
    allow: allow?.map(compilePattern),
    deny: deny.map(compilePattern),
    readOnly,
    hasUriPatterns: [...(allow ?? []), ...deny].some((pattern) => pattern.includes(":")),
  };
  return Object.freeze({
    key: JSON.stringify([allow ?? null, deny, readOnly]),
    isNarrowed: allow !== undefined || deny.length > 0 || readOnly,
    mayBeKnown: (name: string, separator: string) => mayBeKnown(rights, name, separator),
    permits: (subject: Subject) =>
      subject.type === "name" ? permitsName(rights, subject) : permitsUri(rights, subject),
  });
}

interface NamePattern {
  readonly text: string;
  /** Text before its first wildcard. */
  readonly head: string;
  readonly uri: UriPattern;
  /** The pattern split into one over a URI's path and one over its query, if it can be read that way. */
  readonly split: { readonly uri: UriPattern; readonly query: string } | undefined;
}

interface UriPattern {
  /** True if it names a user before the host. */
  readonly hasUser: boolean;
  /** Equivalent spellings. */
  readonly forms: readonly string[];
  readonly careless: readonly string[];
}

function compilePattern(text: string): NamePattern {
  const mark = text.indexOf("?");
  return {
    text,
    head: /^[^*?]*/.exec(text)![0],
    uri: uriPattern(text),
    split:
      mark > 0 && text.includes(":")
        ? { uri: uriPattern(text.slice(0, mark)), query: text.slice(mark + 1) }
        : undefined,
  };
}

function uriPattern(text: string): UriPattern {
  const forms = patternForms(text);
  return { hasUser: /^[^/]*\/\/[^/]*@/.test(text), forms, careless: forms.map(carelessPattern) };
}

function permitsName({ allow, deny, readOnly }: CompiledRights, subject: NamedSubject): boolean {
  const { name, ownName, isDiscovery, isReadOnly, isUnlisted } = subject;
  // For a denial, resemblance to the pattern is sufficient.
  if (deny.some(({ text }) => matchesGlob(text, name) || matchesGlob(text, ownName))) return false;
  if (isUnlisted === true && deny.some(({ text }) => deniesLoosely(text, subject))) return false;
  if (isDiscovery) return true;
  if (readOnly && !isReadOnly) return false;
  return allow === undefined || allow.some((pattern) => meansName(pattern, subject));
}

/**
 * Only the text after the source's prefix is compared loosely, so a pattern of one source denies nothing of another.
 */
function deniesLoosely(pattern: string, { ownName, prefixes }: NamedSubject): boolean {
  return prefixes.some((prefix) =>
    pattern.startsWith(prefix)
      ? looselyMatches(pattern.slice(prefix.length), ownName.slice(prefix.length))
      : matchesGlob(looseName(pattern), looseName(ownName)),
  );
}

function meansName({ text, head }: NamePattern, subject: NamedSubject): boolean {
  const { name, ownName, prefixes, separator, looksLike } = subject;
  if (!matchesGlob(text, name) && !matchesGlob(text, ownName)) return false;
  if (looksLike?.some((start) => head.startsWith(start))) return false;
  // A source without a namespace may name its tools like another's; a pattern that begins with that namespace does not
  // match them.
  return !hasNamespace(head, separator) || prefixes.some((prefix) => head.startsWith(prefix));
}

// A name may be another spelling of a denied one, and does not reveal whether its tool is read-only.
function mayBeKnown({ allow, deny, readOnly }: CompiledRights, name: string, separator: string): boolean {
  if (deny.length > 0 || readOnly) return false;
  const { namespace, bare } = splitName(name, separator);
  return allow === undefined || allow.some((pattern) => meansName(pattern, supposedName(namespace, bare, separator)));
}

function splitName(name: string, separator: string): { readonly namespace: string; readonly bare: string } {
  const at = name.indexOf(separator);
  return at > 0
    ? { namespace: name.slice(0, at), bare: name.slice(at + separator.length) }
    : { namespace: "", bare: name };
}

/** A separator of one character occurs in many names, so it does not identify the source. */
function hasNamespace(head: string, separator: string): boolean {
  return separator.length > 1 && head.indexOf(separator) > 0;
}

function permitsUri(rights: CompiledRights, subject: UriSubject): boolean {
  const { allow, deny, hasUriPatterns } = rights;
  const { shown, own, prefix } = subject;
  if (deny.some(({ text }) => matchesSome(text, [shown, own, `${prefix}${own}`, withUriPrefix(prefix, own)])))
    return false;
  const uri = parseUri(own);
  const asked = uri && askedUri(uri, subject);
  if (asked && deny.some((pattern) => denies(pattern, asked))) return false;
  if (subject.isTemplate === true) return allowsText(rights, subject);
  if (!uri) return !hasUriPatterns && allowsText(rights, subject);
  if (!asked) return false;
  return (
    allow === undefined || asked.readings.forms.every((form) => allow.some((pattern) => allows(pattern, form, asked)))
  );
}

/** A template, or a text that is not a URI, is checked as text. */
function allowsText({ allow }: CompiledRights, { shown, own, prefix }: UriSubject): boolean {
  return (
    allow === undefined ||
    allow.some(({ text }) => matchesSome(text, [shown, `${prefix}${own}`, withUriPrefix(prefix, own)]))
  );
}

interface AskedUri {
  readonly readings: UriReadings;
  readonly query: string;
  /** Texts that may precede a reading if a pattern allows it. */
  readonly starts: readonly string[];
  /**
   * The same for a pattern that denies. A pattern without the prefix denies the URI at every source: the caller chooses
   * whether it writes the prefix.
   */
  readonly deniedStarts: readonly string[];
}

function askedUri(uri: ResourceUri, subject: UriSubject): AskedUri | undefined {
  const readings = readUri(uri);
  const deniedStarts = [...new Set(["", subject.prefix.toLowerCase()])];
  return readings && { readings, query: uri.query, starts: startsOf(subject), deniedStarts };
}

/** A pattern may contain a source's prefix even if it is not shown; without it, the pattern matches the shown URI. */
function startsOf({ shown, own, prefix }: UriSubject): readonly string[] {
  const written = prefix.toLowerCase();
  return shown === own && written !== "" ? ["", written] : [written];
}

function denies({ uri, split }: NamePattern, { readings, query, deniedStarts: starts }: AskedUri): boolean {
  const meets = ({ forms, careless }: UriPattern): boolean =>
    meetsAny(forms, readings.forms, starts) || meetsAny(careless, readings.careless, starts);
  return meets(uri) || (split !== undefined && matchesGlob(split.query, query) && meets(split.uri));
}

function allows({ uri, split }: NamePattern, form: string, { query, starts }: AskedUri): boolean {
  // `https://docs.example*` must not match `https://docs.example@other.example/`.
  const meets = ({ forms, hasUser }: UriPattern): boolean =>
    meetsAny(forms, [form], starts) && (hasUser || meetsAny(forms, [readingWithoutUser(form)], starts));
  return meets(uri) || (split !== undefined && matchesGlob(split.query, query) && meets(split.uri));
}

function meetsAny(patterns: readonly string[], forms: readonly string[], starts: readonly string[]): boolean {
  return forms.some((form) =>
    starts.some(
      (start) => matchesAnyGlob(patterns, `${start}${form}`) || matchesAnyGlob(patterns, withUriPrefix(start, form)),
    ),
  );
}

function matchesSome(pattern: string, texts: readonly string[]): boolean {
  return texts.some((text) => matchesGlob(pattern, text));
}

/** Returns the subject of a supposed read-only tool or prompt with this name at a source. */
export function supposedName(namespace: string, name: string, separator: string): NamedSubject {
  const prefix = namespace === "" ? "" : `${namespace}${separator}`;
  const full = `${prefix}${name}`;
  const prefixes = prefix === "" ? [] : [prefix];
  return { type: "name", name: full, ownName: full, prefixes, separator, isReadOnly: true, isDiscovery: false };
}
