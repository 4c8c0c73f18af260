/** Resource URI, parsed by the rules of WHATWG. */
export interface ResourceUri {
  /** Scheme in lower case, with its colon. */
  readonly scheme: string;
  /** User, host and port. Absent if the path is opaque (`urn:isbn:1`). */
  readonly authority: string | undefined;
  readonly path: string;
  /** Text after the first `?`. Empty if there is none. */
  readonly query: string;
  /** Serialised form of the URI. */
  readonly canonical: string;
}

/** Parses a URI. Returns `undefined` for a text without a scheme or with an invalid host. */
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
 * Returns true if a text is the canonical form of its URI. The encoding of spaces and non-ASCII letters, the case of a
 * host and an omitted path do not matter, because no reader mistakes such a URI for another one.
 */
export function isCanonical(text: string, { canonical, scheme, authority }: ResourceUri): boolean {
  if (text === canonical) return true;
  if (LONE_SURROGATE.test(text)) return false;
  const isSpecial = SPECIAL_SCHEMES.has(scheme);
  return plain(text, isSpecial && authority !== undefined) === plain(canonical, isSpecial && authority !== undefined);
}

/** Schemes with case-insensitive hosts and with paths that always start with a slash. */
export const SPECIAL_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:", "ftp:", "file:"]);

/** Surrogate without its partner, which no encoding can write. */
export const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Encodes spaces and non-ASCII letters, as in a canonical form. The text must be well-formed. */
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
