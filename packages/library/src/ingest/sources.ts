import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { DocumentError } from "../documents/document-error.ts";
import { filesOf, type FilePolicy } from "../documents/open-folders.ts";
import { EXTENSIONS } from "../documents/formats.ts";
import { firstChars } from "toolyard/text";

/** A source: a file by its real path, or a URL. */
export type Source = { readonly path: string } | { readonly url: string };

export interface SourcePolicy {
  readonly files: FilePolicy;
  /** True if URLs may be fetched. */
  readonly allowUrls: boolean;
  /** Returns whether a user added the source; it may then be read again from any folder. @default always false */
  readonly isByPerson?: (source: Source) => Promise<boolean>;
}

const MAX_ADDRESS = 2_048;
const MAX_GLOB = 1_000;
/** Maximum number of stars in a pattern. Matching takes too long with more. */
const MAX_STARS = 12;

/**
 * Returns the sources of files, folders, patterns of files and https addresses. Rejects with a `DocumentError` that
 * names the refused `source`, or with the signal's reason if it is aborted.
 */
export async function sourcesOf(
  given: readonly string[],
  policy: SourcePolicy,
  signal?: AbortSignal,
): Promise<Source[]> {
  const sources: Source[] = [];
  for (const one of given) {
    try {
      sources.push(...(await sourcesIn(one, policy, signal)));
    } catch (error) {
      if (error instanceof DocumentError) error.source = one;
      throw error;
    }
  }
  return sources;
}

async function sourcesIn(given: string, policy: SourcePolicy, signal: AbortSignal | undefined): Promise<Source[]> {
  if (isAddress(given)) return [await addressIn(given, policy)];
  if (/[*?{]/.test(given)) return matching(given, policy.files, signal);
  return (await pathsIn(given, policy, signal)).map((path) => ({ path }));
}

async function pathsIn(
  given: string,
  { files, isByPerson }: SourcePolicy,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  try {
    return await filesOf(await files.resolve(given), { signal });
  } catch (error) {
    const path = isDenied(error) && isAbsolute(given) ? await realFile(given) : undefined;
    if (path !== undefined && (await isByPerson?.({ path }))) return [path];
    throw error;
  }
}

async function realFile(given: string): Promise<string | undefined> {
  const real = await realpath(given).catch(() => undefined);
  return real !== undefined && (await stat(real)).isFile() ? real : undefined;
}

async function addressIn(given: string, { allowUrls, isByPerson }: SourcePolicy): Promise<Source> {
  const source = { url: addressOf(given) };
  if (allowUrls || (await isByPerson?.(source))) return source;
  throw new DocumentError(
    "ACCESS_DENIED",
    `These tools may not fetch URLs, got ${JSON.stringify(firstChars(given, 200))}. Add the line ` +
      "`allow_urls = true` below [library] of toolyard.toml; for a server without a hub, set " +
      "LIBRARY_ALLOW_URLS=true. A user can add any URL with `toolyard library add`.",
  );
}

function isDenied(error: unknown): boolean {
  return error instanceof DocumentError && error.code === "ACCESS_DENIED";
}

export function nameOfSource(source: Source): string {
  return "path" in source ? source.path : source.url;
}

function isAddress(given: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(given) && !/^[a-z]:[\\/]/i.test(given);
}

function addressOf(given: string): string {
  const shown = JSON.stringify(firstChars(given, 200));
  const url = URL.canParse(given) && given.length <= MAX_ADDRESS ? new URL(given) : undefined;
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "")
    throw new DocumentError(
      "VALIDATION_ERROR",
      `A URL must begin with https:// and contain no user name, got ${shown}. For a file, give its path.`,
    );
  // The fragment of a URL is a place in the page, not another page.
  url.hash = "";
  return url.href;
}

async function matching(pattern: string, files: FilePolicy, signal: AbortSignal | undefined): Promise<Source[]> {
  const stars = pattern.match(/\*+|\?/g)?.length ?? 0;
  if (pattern.length > MAX_GLOB || stars > MAX_STARS)
    throw new DocumentError(
      "VALIDATION_ERROR",
      `A pattern has at most ${MAX_STARS} wildcards, got ${JSON.stringify(firstChars(pattern, 200))}.`,
    );
  const plain = pattern.replaceAll("\\", "/");
  const steps = plain.split("/");
  const first = steps.findIndex((step) => /[*?{]/.test(step));
  const base = steps.slice(0, first).join("/") || (plain.startsWith("/") ? "/" : ".");
  const folder = await files.resolve(base);
  const matcher = matcherOf(steps.slice(first).join("/"));
  const all = await filesOf(folder, { extensions: EXTENSIONS, signal });
  return all
    .filter((path) => matcher.test(path.slice(folder.length).replaceAll("\\", "/").replace(/^\//, "")))
    .map((path) => ({ path }));
}

/**
 * Converts a pattern to a regular expression. `**` matches folders, `*` and `?` characters of one name, `{a,b}` either
 * text.
 */
function matcherOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/\*\*\/|\*+|\?|\{[^{}/]*\}|[^*?{]+|\{/g, (piece) => {
    if (piece === "**/") return "(?:[^/]+/)*";
    if (piece === "**") return ".*";
    if (piece.startsWith("*")) return "[^/]*";
    if (piece === "?") return "[^/]";
    if (piece.length > 1 && piece.startsWith("{")) return `(?:${piece.slice(1, -1).split(",").map(literal).join("|")})`;
    return literal(piece);
  });
  return new RegExp(`^${source}$`, "su");
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
