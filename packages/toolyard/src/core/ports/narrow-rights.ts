import { looselyMatches, looseName } from "../loose-name.ts";
import { matchesAnyGlob, matchesGlob } from "../text/glob.ts";
import { compilePattern, isForUris, type Pattern } from "./rights-pattern.ts";
import { permitsUri, type UriRules } from "./uri-rights.ts";
import type { NamedSubject, NarrowRights, Permission, Subject } from "./permission.ts";

interface CompiledRights {
  readonly deny: readonly Pattern[];
  readonly readOnly: boolean;
  readonly sources: readonly string[] | undefined;
  /** Pattern lists for tools. A tool must match a pattern of each list. */
  readonly tools: PatternLists;
  readonly prompts: PatternLists;
  readonly uris: UriRules;
}

/** Compiles the limits of one grant. `permissionOf` caches the result. */
export function compileNarrow(narrow: NarrowRights): Permission {
  const rights = compiled(narrow);
  return Object.freeze({
    key: keyOf(narrow),
    isNarrowed: LISTS.some((list) => narrow[list] !== undefined) || rights.deny.length > 0 || rights.readOnly,
    mayBeKnown: (name: string, separator: string) => mayBeKnown(rights, name, separator),
    permits: (subject: Subject) => {
      const { sources, uris } = rights;
      if (subject.type === "name") return permitsName(rights, subject);
      const isOfSource = sources === undefined || (subject.source !== undefined && isAnyOf(sources, subject.source));
      return isOfSource && permitsUri(uris, subject);
    },
  });
}

const LISTS = ["allow", "sources", "tools", "prompts", "resources"] as const;

function compiled({ deny: denied = [], readOnly = false, sources, ...lists }: NarrowRights): CompiledRights {
  const allow = lists.allow?.map(compilePattern);
  const deny = denied.map(compilePattern);
  const listsFor = (own: readonly string[] | undefined): PatternLists =>
    [allow, own?.map(compilePattern)].filter((list) => list !== undefined);
  const resources = listsFor(lists.resources);
  const hasUriPatterns = [...resources.flat(), ...deny].some(isForUris);
  return {
    deny,
    readOnly,
    sources,
    tools: listsFor(lists.tools),
    prompts: listsFor(lists.prompts),
    uris: { allow: resources, deny, hasUriPatterns },
  };
}

function keyOf({ allow, deny = [], readOnly = false, sources, tools, prompts, resources }: NarrowRights): string {
  const others = [sources, tools, prompts, resources];
  return JSON.stringify([
    allow ?? null,
    deny,
    readOnly,
    ...(others.some((list) => list !== undefined) ? others.map((list) => list ?? null) : []),
  ]);
}

type PatternLists = readonly (readonly Pattern[])[];

function isAnyOf(globs: readonly string[], source: string): boolean {
  return matchesAnyGlob(globs, source);
}

function permitsName(rights: CompiledRights, subject: NamedSubject): boolean {
  const { deny, readOnly, sources } = rights;
  const { isDiscovery, isReadOnly, isUnlisted, source } = subject;
  // For an unlisted tool, a pattern of `deny` also matches names that a lenient server would accept for the same tool.
  if (deny.some((pattern) => matchesText(pattern, subject))) return false;
  if (isUnlisted === true && deny.some((pattern) => deniesLoosely(pattern, subject))) return false;
  if (isDiscovery) return true;
  if (readOnly && !isReadOnly) return false;
  if (sources !== undefined && (source === undefined || !isAnyOf(sources, source))) return false;
  const lists = subject.isPrompt === true ? rights.prompts : rights.tools;
  return lists.every((list) => list.some((pattern) => allowsName(pattern, subject)));
}

function matchesText({ text, qualified }: Pattern, subject: NamedSubject): boolean {
  const { name, ownName } = subject;
  return (
    matchesGlob(text, name) ||
    matchesGlob(text, ownName) ||
    (qualified !== undefined && isQualified(qualified, subject))
  );
}

type QualifiedName = NonNullable<Pattern["qualified"]>;

/** Returns true if the pattern matches the subject's source, and a name that the subject has at this source. */
function isQualified({ source, rest }: QualifiedName, subject: NamedSubject, matches = matchesGlob): boolean {
  if (subject.source === undefined || !matchesGlob(source, subject.source)) return false;
  return [subject.name, subject.ownName].some((name) => matches(rest.text, bareName(name, subject)));
}

/** Returns a name without the prefix that the hub added. */
function bareName(name: string, { prefixes }: NamedSubject): string {
  const prefix = prefixes.find((one) => name.startsWith(one));
  return prefix === undefined ? name : name.slice(prefix.length);
}

/**
 * Returns true if the pattern denies the subject in a loose comparison. Only the text after the source's prefix is
 * compared loosely, so a pattern for one source denies nothing of another source.
 */
function deniesLoosely({ text: pattern, qualified }: Pattern, subject: NamedSubject): boolean {
  const { ownName, prefixes } = subject;
  if (qualified !== undefined && isQualified(qualified, subject, looselyMatches)) return true;
  return prefixes.some((prefix) =>
    pattern.startsWith(prefix)
      ? looselyMatches(pattern.slice(prefix.length), ownName.slice(prefix.length))
      : matchesGlob(looseName(pattern), looseName(ownName)),
  );
}

function allowsName({ text, head, qualified }: Pattern, subject: NamedSubject): boolean {
  const { name, ownName, prefixes, separator, looksLike } = subject;
  // A pattern with a source is compared only with names of that source, because its text could also be the start of
  // another source's names.
  if (qualified !== undefined && separator !== QUALIFIER) return isQualified(qualified, subject);
  if (!matchesGlob(text, name) && !matchesGlob(text, ownName)) return false;
  if (looksLike?.some((start) => head.startsWith(start))) return false;
  // A source without a namespace may have tool names that look like those of a namespace. A pattern with that namespace
  // does not match them.
  return !hasNamespace(head, separator) || prefixes.some((prefix) => head.startsWith(prefix));
}

/**
 * Separator between the id of a source and a pattern. If it is also the hub's separator of names, the text before it is
 * a namespace.
 */
const QUALIFIER = "::";

// With `deny`, `readOnly` or `sources`, the caller must not learn whether a name exists: the name may be another
// spelling of a denied one, and it does not reveal the source and annotations of its tool.
function mayBeKnown(rights: CompiledRights, name: string, separator: string): boolean {
  const { deny, readOnly, sources, tools, prompts } = rights;
  if (deny.length > 0 || readOnly || sources) return false;
  const subject = unknownName(name, separator);
  return [...tools, ...prompts].every((list) => list.some((pattern) => allowsName(pattern, subject)));
}

function unknownName(name: string, separator: string): NamedSubject {
  const at = name.indexOf(separator);
  const prefix = at > 0 ? name.slice(0, at + separator.length) : "";
  const prefixes = prefix === "" ? [] : [prefix];
  return { type: "name", name, ownName: name, prefixes, separator, isReadOnly: true, isDiscovery: false };
}

/**
 * Returns true if the text starts with a namespace. A separator of one character does not count, because names often
 * contain it.
 */
function hasNamespace(head: string, separator: string): boolean {
  return separator.length > 1 && head.indexOf(separator) > 0;
}
