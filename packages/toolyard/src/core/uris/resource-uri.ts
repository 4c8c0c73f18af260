/** A resource URI, parsed as WHATWG does. */
export interface ResourceUri {
  /** With its colon, in lower case. */
  readonly scheme: string;
  /** User and host with its port; absent if the path is opaque (`urn:isbn:1`). */
  readonly authority: string | undefined;
  readonly path: string;
  /** Text after the first `?`; empty if there is none. */
  readonly query: string;
  /** The serialised form. */
  readonly canonical: string;
}

/** Returns `undefined` for a text that is not a URI: without a scheme, or with an impossible host. */
export function parseUri(text: string): ResourceUri | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol: scheme, pathname: path, username, password, host } = url;
  const isOpaque = host === "" && !path.startsWith("/") && !url.href.startsWith("//", scheme.length);
  const user = username === "" && password === "" ? "" : `${username}${password === "" ? "" : `:${password}`}@`;
  return {
    scheme,
    authority: isOpaque ? undefined : `${user}${host}`,
    path,
    query: url.search.slice(1),
    canonical: url.href,
  };
}

/**
 * Returns whether a text is its URI's canonical form. The encoding of spaces and non-ASCII letters, the case of a host
 * and an omitted path do not matter: no reader mistakes such a URI for another one.
 */
export function isCanonical(text: string, { canonical, scheme, authority }: ResourceUri): boolean {
  if (text === canonical) return true;
  if (LONE_SURROGATE.test(text)) return false;
  const isSpecial = SPECIAL_SCHEMES.has(scheme);
  return plain(text, isSpecial && authority !== undefined) === plain(canonical, isSpecial && authority !== undefined);
}

/** Schemes with case-insensitive hosts, and paths that always begin with a slash. */
export const SPECIAL_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:", "ftp:", "file:"]);

/** Half of a character, which no encoding can write. */
export const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Encodes the spaces and non-ASCII letters that a canonical form encodes. The text must be well formed. */
export function encodeBeyondAscii(text: string): string {
  return text.replaceAll(/[ \u{80}-\u{10ffff}]+/gu, encodeURIComponent);
}

function plain(text: string, hasPlainHost: boolean): string {
  const encoded = encodeBeyondAscii(text);
  const parts = hasPlainHost ? /^([a-z]+:\/\/)([^/?#]*)(.*)/s.exec(encoded) : null;
  if (!parts) return encoded;
  const rest = parts[3]!;
  return `${parts[1]}${parts[2]!.toLowerCase()}${rest.startsWith("/") ? "" : "/"}${rest}`;
}
