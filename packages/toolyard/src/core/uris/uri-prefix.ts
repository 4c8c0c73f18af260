/**
 * Scheme `ui`. A prefix (`alias+`) distinguishes a source's URIs from equal URIs of other sources. It normally precedes
 * the scheme: `files+file:///a`. With the scheme `ui` it follows the scheme, because hosts of MCP Apps test for
 * `ui://`: `ui://files+panel`.
 */

const USER_INTERFACE = /^ui:(?:\/\/)?/i;
/** A prefix consists of the characters of a scheme (RFC 3986, 3.1) up to the first `+`. */
const PREFIX = /^[a-z][a-z0-9.-]*\+/i;
const MAX_PREFIX_CHARS = 128;

/** Adds a source's prefix to a URI or a URI template. An empty prefix leaves it unchanged. */
export function withUriPrefix(prefix: string, uri: string): string {
  const scheme = schemeThatStays(uri);
  return `${scheme}${prefix}${uri.slice(scheme.length)}`;
}

export interface PrefixedUri {
  readonly prefix: string;
  /** URI without the prefix. */
  readonly own: string;
}

/**
 * Splits a prefix from a URI. Does not check that a source has that prefix. Returns `undefined` if there is no prefix.
 */
export function splitUriPrefix(uri: string): PrefixedUri | undefined {
  const scheme = schemeThatStays(uri);
  const prefix = PREFIX.exec(uri.slice(scheme.length, scheme.length + MAX_PREFIX_CHARS + 1))?.[0];
  return prefix === undefined ? undefined : { prefix, own: `${scheme}${uri.slice(scheme.length + prefix.length)}` };
}

function schemeThatStays(uri: string): string {
  return USER_INTERFACE.exec(uri)?.[0] ?? "";
}
