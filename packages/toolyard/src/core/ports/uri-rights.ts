import { matchesAnyGlob, matchesGlob } from "../text/glob.ts";
import { parseUri, type ResourceUri } from "../uris/resource-uri.ts";
import { withUriPrefix } from "../uris/uri-prefix.ts";
import { readingWithoutUser, readUri, type UriReadings } from "../uris/uri-readings.ts";
import type { Pattern, UriPattern } from "./rights-pattern.ts";
import type { UriSubject } from "./permission.ts";

/** Part of compiled rights with which URIs are compared. */
export interface UriRules {
  /** Pattern lists. A URI must match a pattern of each list. */
  readonly allow: readonly (readonly Pattern[])[];
  readonly deny: readonly Pattern[];
  readonly hasUriPatterns: boolean;
}

/** Returns true if the rules permit a resource or a template. */
export function permitsUri(rights: UriRules, subject: UriSubject): boolean {
  const { allow, deny, hasUriPatterns } = rights;
  const { shown, own, prefix } = subject;
  const spellings = [shown, own, `${prefix}${own}`, withUriPrefix(prefix, own)];
  if (deny.some(({ text, qualified }) => matchesSome(text, spellings) || matchesQualified(qualified, subject)))
    return false;
  const uri = parseUri(own);
  const asked = uri && requestedUri(uri, subject);
  if (asked && deny.some((pattern) => denies(pattern, asked))) return false;
  if (subject.isTemplate === true) return allowsText(rights, subject);
  if (!uri) return !hasUriPatterns && allowsText(rights, subject);
  if (!asked) return false;
  return allow.every((list) =>
    asked.readings.forms.every((form) => list.some((pattern) => allows(pattern, form, asked))),
  );
}

/** Returns true if `allow` matches the text of a template, or of an invalid URI. */
function allowsText({ allow }: UriRules, subject: UriSubject): boolean {
  const { shown, own, prefix } = subject;
  const spellings = [shown, `${prefix}${own}`, withUriPrefix(prefix, own)];
  return allow.every((list) =>
    list.some(({ text, qualified }) =>
      qualified ? matchesQualified(qualified, subject) : matchesSome(text, spellings),
    ),
  );
}

/** Returns true if the pattern names the source of the URI and matches the URI as the source has it. */
function matchesQualified(qualified: Pattern["qualified"], { source, own }: UriSubject): boolean {
  if (qualified === undefined || source === undefined || !matchesGlob(qualified.source, source)) return false;
  return matchesGlob(qualified.rest.text, own);
}

interface RequestedUri {
  readonly source: string | undefined;
  readonly readings: UriReadings;
  readonly query: string;
  /** Prefixes with which a pattern of `allow` may begin when it is compared with a reading of the URI. */
  readonly starts: readonly string[];
  /**
   * Prefixes with which a pattern of `deny` may begin. A pattern without prefix denies the URI at every source, because
   * the caller chooses whether it writes the prefix.
   */
  readonly deniedStarts: readonly string[];
}

function requestedUri(uri: ResourceUri, subject: UriSubject): RequestedUri | undefined {
  const readings = readUri(uri);
  const deniedStarts = [...new Set(["", subject.prefix.toLowerCase()])];
  return readings && { source: subject.source, readings, query: uri.query, starts: startsOf(subject), deniedStarts };
}

/**
 * Returns the prefixes with which a pattern of `allow` may begin. A pattern may begin with a source's prefix that is
 * not shown; a pattern without prefix matches the shown URI.
 */
function startsOf({ shown, own, prefix }: UriSubject): readonly string[] {
  const written = prefix.toLowerCase();
  return shown === own && written !== "" ? ["", written] : [written];
}

function denies({ uri, split, qualified }: Pattern, asked: RequestedUri): boolean {
  const { readings, query, deniedStarts: starts } = asked;
  if (isOfSource(qualified, asked) && denies(qualified.rest, { ...asked, deniedStarts: BARE })) return true;
  const meets = ({ forms, careless }: UriPattern): boolean =>
    meetsAny(forms, readings.forms, starts) || meetsAny(careless, readings.careless, starts);
  return meets(uri) || (split !== undefined && matchesGlob(split.query, query) && meets(split.uri));
}

function allows({ uri, split, qualified }: Pattern, form: string, asked: RequestedUri): boolean {
  const { query, starts } = asked;
  // A pattern with a source is compared only with URIs of that source, because its text could also be the scheme of
  // other URIs.
  if (qualified) return isOfSource(qualified, asked) && allows(qualified.rest, form, { ...asked, starts: BARE });
  // A pattern without a user must not match a URI with a user: `https://docs.example*` must not match
  // `https://docs.example@other.example/`.
  const meets = ({ forms, hasUser }: UriPattern): boolean =>
    meetsAny(forms, [form], starts) && (hasUser || meetsAny(forms, [readingWithoutUser(form)], starts));
  return meets(uri) || (split !== undefined && matchesGlob(split.query, query) && meets(split.uri));
}

function isOfSource(
  qualified: Pattern["qualified"],
  { source }: RequestedUri,
): qualified is NonNullable<Pattern["qualified"]> {
  return qualified !== undefined && source !== undefined && matchesGlob(qualified.source, source);
}

/** The empty prefix: a pattern with a source is compared with the source's own URI. */
const BARE: readonly string[] = [""];

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
