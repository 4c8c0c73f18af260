import { looseAuthority, sameHosts, standardAuthority, withoutUser } from "./uri-host.ts";
import { namesLoopback } from "./loopback.ts";
import { encodeBeyondAscii, LONE_SURROGATE, SPECIAL_SCHEMES, type ResourceUri } from "./resource-uri.ts";

/** Ways in which a server may read a URI, without query and fragment. */
export interface UriReadings {
  /** Readings of usual servers. A server may open any of them, so each must be permitted. */
  readonly forms: readonly string[];
  /** Further readings of lenient servers. Only patterns of `deny` apply to them. */
  readonly careless: readonly string[];
}

/** Maximum length of a URI that is read, in characters. */
const MAX_URI_LENGTH = 8192;
/** Maximum number of readings of one URI. A URI with more readings is refused as deceptive. */
const MAX_FORMS = 64;

/**
 * Returns the readings of a URI: by the WHATWG rules, and by a server that decodes the URI until nothing changes.
 * Separators, dot segments, queries and other spellings count even if only decoding reveals them. Returns `undefined`
 * if the URI is deceptive: encoded control characters, invalid bytes, or too many readings.
 */
export function readUri({ scheme, authority, path, canonical }: ResourceUri): UriReadings | undefined {
  if (canonical.length > MAX_URI_LENGTH) return undefined;
  const rests = closure(authority === undefined ? path : `//${authority}${path}`, URI_STEPS);
  if (rests === undefined || rests.some((rest) => isDeceptive(rest))) return undefined;
  const forms = new Set<string>();
  const careless = new Set<string>();
  for (const rest of rests) {
    forms.add(`${scheme}${rest}`);
    if (scheme === "file:" && isThisMachine(rest)) forms.add(`${scheme}${withoutAuthority(rest)}`);
    for (const other of carelessForms(scheme, rest)) careless.add(`${scheme}${other}`);
  }
  return { forms: Array.from(forms), careless: Array.from(careless) };
}

/**
 * Returns the equivalent spellings of a pattern over URIs. Each of them may match a reading. The text before the last
 * `+` of the scheme stays unchanged.
 */
export function patternForms(pattern: string): readonly string[] {
  const parts = /^([^:/?#]*:)(.*)$/s.exec(pattern);
  if (!parts) return [pattern];
  const scheme = parts[1]!.toLowerCase();
  const bare = scheme.slice(scheme.lastIndexOf("+") + 1);
  const rest = withSlashes(bare, parts[2]!);
  const starts = [rest, withPlainHost(bare, rest), ...(LONE_SURROGATE.test(rest) ? [] : [encodePattern(rest)])];
  const forms = new Set(starts.flatMap((start) => closure(start, PATTERN_STEPS) ?? [start]));
  return Array.from(new Set([pattern, ...Array.from(forms, (form) => `${scheme}${form}`)]));
}

/**
 * Returns the form of a pattern for lenient readings: hosts in lower case without trailing dots, for every scheme, and
 * file paths in lower case.
 */
export function carelessPattern(form: string): string {
  const loose = form.replace(
    AUTHORITY,
    (_, scheme: string, authority: string) => `${scheme}//${looseAuthority(authority)}`,
  );
  return IS_FILE.test(loose) ? loose.toLowerCase() : loose;
}

/** Returns a reading without the user before its host. Returns the same text if there is no user. */
export function readingWithoutUser(form: string): string {
  return form.replace(AUTHORITY, (_, scheme: string, authority: string) => `${scheme}//${withoutUser(authority)}`);
}

const AUTHORITY = /^([^:/?#]*:)\/\/([^/?#]*)/;
const IS_FILE = /^(?:[^:/?#]*\+)?file:/i;

type DecodeStep = (rest: string) => string;

/** Returns all texts that the steps produce, in any order. Returns `undefined` if there are too many. */
function closure(start: string, steps: readonly DecodeStep[]): readonly string[] | undefined {
  const found = new Set([start]);
  for (const rest of found) {
    for (const step of steps) found.add(step(rest));
    if (found.size > MAX_FORMS) return undefined;
  }
  return Array.from(found);
}

const PATTERN_STEPS: readonly DecodeStep[] = [decode, plainLetters, followDots, joinSlashes];
const URI_STEPS: readonly DecodeStep[] = [...PATTERN_STEPS, followAllDots, cutAtQuery];

/** Removes one layer of percent-encoding, and removes tabs and line ends as the URL parser does. */
function decode(rest: string): string {
  if (!rest.includes("%")) return rest;
  return rest
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"))
    .replaceAll(/[\t\n\r]/g, "");
}

/** Replaces characters that a lenient comparison treats as ASCII, and backslashes by slashes. */
function plainLetters(rest: string): string {
  return rest.normalize("NFKC").replaceAll("\\", "/");
}

function followDots(rest: string): string {
  const start = pathStart(rest);
  return `${rest.slice(0, start)}${followed(rest.slice(start))}`;
}

/** Resolves all dot segments like a server that reads the host as the first segment of the path. */
function followAllDots(rest: string): string {
  if (!rest.startsWith("//") || !DOT_SEGMENT.test(rest)) return rest;
  return `/${followed(rest.slice(1))}`;
}

/** Dot segment. It may have a semicolon and text, which some servers drop before they resolve dots. */
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:;[^/]*)?(?:\/|$)/i;

function followed(path: string): string {
  if (!DOT_SEGMENT.test(path)) return path;
  const steps: string[] = [];
  const root = path.startsWith("/") ? 1 : 0;
  const all = path.split("/");
  for (const [at, step] of all.entries()) {
    const dots = step.replace(/;.*/s, "").replaceAll(/%2e/gi, ".");
    if (dots !== "." && dots !== "..") {
      steps.push(step);
      continue;
    }
    if (dots === ".." && steps.length > root) steps.pop();
    // A path that ends with a dot segment is a folder, so it ends with a slash.
    if (at === all.length - 1) steps.push("");
  }
  return steps.join("/");
}

function joinSlashes(rest: string): string {
  const start = pathStart(rest);
  return `${rest.slice(0, start)}${rest.slice(start).replaceAll(/\/{2,}/g, "/")}`;
}

function cutAtQuery(rest: string): string {
  const end = rest.search(/[?#]/);
  return end === -1 ? rest : rest.slice(0, end);
}

function pathStart(rest: string): number {
  if (!rest.startsWith("//")) return 0;
  const slash = rest.indexOf("/", 2);
  return slash === -1 ? rest.length : slash;
}

function isDeceptive(rest: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f\ufffd]/.test(rest);
}

function isThisMachine(rest: string): boolean {
  const host = rest.slice(2, pathStart(rest)).toLowerCase();
  return namesLoopback(host);
}

function withoutAuthority(rest: string): string {
  return `//${rest.slice(pathStart(rest))}`;
}

function carelessForms(scheme: string, rest: string): string[] {
  if (!rest.startsWith("//")) return rest.startsWith("/") ? [] : [`//${rest}`];
  const start = pathStart(rest);
  const path = rest.slice(start);
  const hosts = new Set([...sameHosts(rest.slice(2, start)), ...(scheme === "file:" ? [""] : [])]);
  const paths = path === "/" || path === "" ? ["", "/"] : scheme === "file:" ? [path, filePath(path)] : [path];
  return Array.from(hosts).flatMap((one) => paths.map((end) => `//${one}${end}`));
}

/**
 * Returns a path as file systems read it: without regard to case, and on Windows without trailing dots and blanks of a
 * segment and without the text after a colon, which names a stream of the same file.
 */
function filePath(path: string): string {
  const steps = path.toLowerCase().split("/");
  return steps
    .map((step) =>
      /^[a-z][:|]$/.test(step) ? `${step[0]}:` : step.replace(/:.*/s, "").replace(/(?<=[^. ])[. ]+$/, ""),
    )
    .join("/");
}

/** Adds an empty host to a path without one, as in readings. */
function withSlashes(scheme: string, rest: string): string {
  if (rest.startsWith("//")) return rest;
  if (rest.startsWith("/")) return `//${rest}`;
  return scheme === "file:" && !rest.startsWith("*") ? `///${rest}` : rest;
}

function withPlainHost(scheme: string, rest: string): string {
  if (!rest.startsWith("//") || !SPECIAL_SCHEMES.has(scheme)) return rest;
  const start = pathStart(rest);
  const host = standardAuthority(scheme, rest.slice(2, start));
  const shownHost = scheme === "file:" && host === "localhost" ? "" : host;
  return `//${shownHost}${start === rest.length ? "/" : rest.slice(start)}`;
}

/** Encodes spaces, non-ASCII letters and other characters that a canonical path never contains. */
function encodePattern(rest: string): string {
  return encodeBeyondAscii(rest).replaceAll(/["<>`{}]/g, encodeURIComponent);
}
