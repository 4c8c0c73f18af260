import { matchesAnyGlob, matchesGlob } from "../text/glob.ts";
import { looselyMatches, looseName } from "../loose-name.ts";
import { parseUri, type ResourceUri } from "../uris/resource-uri.ts";
import { withUriPrefix } from "../uris/uri-prefix.ts";
import { carelessPattern, patternForms, readingWithoutUser, readUri, type UriReadings } from "../uris/uri-readings.ts";

/** No bound at all. */
export const EVERYTHING = "everything";

/** What a principal may do. Whoever wants to know asks `permissionOf`; nobody else reads it. */
export type Rights = typeof EVERYTHING | NarrowRights;

/**
 * Patterns are globs over rendered names of tools and prompts, and over URIs. One that begins with a namespace means
 * the tools of that namespace's source; one over URIs judges scheme, authority and path.
 */
export interface NarrowRights {
  /** Absent: all that is not denied. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Only tools that are read-only by annotation. @default false */
  readonly readOnly?: boolean;
}

/** What rights are held against. */
export type Subject = NamedSubject | UriSubject;

/** A tool or a prompt. */
export interface NamedSubject {
  readonly type: "name";
  /** As it is shown. */
  readonly name: string;
  /** As it would be shown if nobody else wanted that name. */
  readonly ownName: string;
  /** What the hub itself put before the name, separator included, in `name` or in `ownName`. */
  readonly prefixes: readonly string[];
  /** What it begins with as the names of another source do, which it is not of. @default nothing */
  readonly looksLike?: readonly string[];
  /** What stands between a namespace and a name in this hub. */
  readonly separator: string;
  /** Changes nothing, by its annotations. Prompts never do. */
  readonly isReadOnly: boolean;
  /** Gives no access of its own: what it leads to is judged by itself. */
  readonly isDiscovery: boolean;
  /** No list shows it, so its server may read the name in another way than the hub. @default false */
  readonly isUnlisted?: boolean;
}

export interface UriSubject {
  readonly type: "uri";
  /** As callers see it. */
  readonly shown: string;
  /** As its source gets it. */
  readonly own: string;
  /** What tells this source's URIs from all others (`alias+`), whether it is shown or not. */
  readonly prefix: string;
  /** A template, whose text is all that is judged: what is read by it is judged by itself. @default false */
  readonly isTemplate?: boolean;
}

/** What one caller may use. */
export interface Permission {
  /** Equal rights have equal keys, whoever holds them. */
  readonly key: string;
  /** There is something that this caller may not use. */
  readonly isNarrowed: boolean;
  permits(subject: Subject): boolean;
  /**
   * Whether a caller may be told that there is no tool or prompt of this name: by the name alone, so that it hears the
   * same of what is there and of what is not.
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

/** The one reading of rights. */
export function permissionOf(rights: Rights): Permission {
  if (rights === EVERYTHING) return ALL_PERMITTED;
  let permission = known.get(rights);
  if (!permission) known.set(rights, (permission = compile(rights)));
  return permission;
}

/** The rights that these bounds leave: everything where there are none. */
export function rightsWithin({ allow, deny = [], readOnly = false }: NarrowRights): Rights {
  if (allow === undefined && deny.length === 0 && !readOnly) return EVERYTHING;
  return Object.freeze({ ...(allow && { allow }), ...(deny.length > 0 && { deny }), ...(readOnly && { readOnly }) });
}

/** The same rights, of which only those that change nothing are left. */
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
  /** What stands before its first wildcard. */
  readonly head: string;
  readonly uri: UriPattern;
  /** The pattern as one over a URI's path and one over its query, where it may be meant so. */
  readonly split: { readonly uri: UriPattern; readonly query: string } | undefined;
}

interface UriPattern {
  /** It names a user before the host. */
  readonly hasUser: boolean;
  /** Spellings that mean the same. */
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
  // To deny it is enough that it looks like what is meant.
  if (deny.some(({ text }) => matchesGlob(text, name) || matchesGlob(text, ownName))) return false;
  if (isUnlisted === true && deny.some(({ text }) => deniesLoosely(text, subject))) return false;
  if (isDiscovery) return true;
  if (readOnly && !isReadOnly) return false;
  return allow === undefined || allow.some((pattern) => meansName(pattern, subject));
}

/** What follows the source's prefix is compared loosely, so a pattern of one source denies nothing of another. */
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
  // Who has no namespace may name its tools like another's; a pattern that begins with that one does not mean them.
  return !hasNamespace(head, separator) || prefixes.some((prefix) => head.startsWith(prefix));
}

// A name may be another spelling of one that is denied, and does not say whether its tool is read-only.
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

/** A separator of one character stands in many a name, so it says nothing about whose it is. */
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

/** A template, or what is no URI, is judged by its text. */
function allowsText({ allow }: CompiledRights, { shown, own, prefix }: UriSubject): boolean {
  return (
    allow === undefined ||
    allow.some(({ text }) => matchesSome(text, [shown, `${prefix}${own}`, withUriPrefix(prefix, own)]))
  );
}

interface AskedUri {
  readonly readings: UriReadings;
  readonly query: string;
  /** What may stand before a reading for a pattern that allows to mean it. */
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

/** A source's prefix may be written in a pattern though it is not shown; without it what is shown is meant. */
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
  // `https://docs.example*` must not mean `https://docs.example@other.example/`.
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

/** What a tool or prompt of a source would be, if it offered one of this name that changes nothing. */
export function supposedName(namespace: string, name: string, separator: string): NamedSubject {
  const prefix = namespace === "" ? "" : `${namespace}${separator}`;
  const full = `${prefix}${name}`;
  const prefixes = prefix === "" ? [] : [prefix];
  return { type: "name", name: full, ownName: full, prefixes, separator, isReadOnly: true, isDiscovery: false };
}
