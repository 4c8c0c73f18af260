/**
 * The prefix (`alias+`) that tells one source's URIs from another's of the same text. It comes before the scheme:
 * `files+file:///a`. The scheme `ui` stays, because hosts of MCP Apps test for it: `ui://files+panel`.
 */

const USER_INTERFACE = /^ui:(?:\/\/)?/i;
/** A prefix is a scheme's text (RFC 3986, 3.1) up to the first `+`. */
const PREFIX = /^[a-z][a-z0-9.-]*\+/i;
const MAX_PREFIX_CHARS = 128;

/** Puts a source's prefix into a URI or a URI template. An empty prefix changes nothing. */
export function withUriPrefix(prefix: string, uri: string): string {
  const scheme = schemeThatStays(uri);
  return `${scheme}${prefix}${uri.slice(scheme.length)}`;
}

export interface PrefixedUri {
  readonly prefix: string;
  /** The URI without the prefix. */
  readonly own: string;
}

/** Splits what may be a prefix from a URI. Whether a source has that prefix is not decided here. */
export function splitUriPrefix(uri: string): PrefixedUri | undefined {
  const scheme = schemeThatStays(uri);
  const prefix = PREFIX.exec(uri.slice(scheme.length, scheme.length + MAX_PREFIX_CHARS + 1))?.[0];
  return prefix === undefined ? undefined : { prefix, own: `${scheme}${uri.slice(scheme.length + prefix.length)}` };
}

function schemeThatStays(uri: string): string {
  return USER_INTERFACE.exec(uri)?.[0] ?? "";
}
