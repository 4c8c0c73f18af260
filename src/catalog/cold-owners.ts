import type { View } from "../core/hub-port.ts";
import { READ_SEPARATORS } from "../core/names.ts";
import type { Source } from "../core/records.ts";
import { permissionOf, supposedName } from "../core/rights.ts";
import { splitUriPrefix } from "../core/uri-prefix.ts";

/** What a caller asks for in its own words. */
export interface Asked {
  /** Name of a tool or prompt, or a URI. */
  readonly text: string;
  readonly isUri: boolean;
  readonly view: View;
}

/** How names and URIs are put together at this moment. */
export interface Spelling {
  readonly separator: string;
  /** The source whose prefix a URI carries. */
  sourceOfUri(uri: string): Source | undefined;
}

/** The sources whose prefix is in what is asked for; none where it is bare, and could be anybody's. */
export function namedSources(
  { text, isUri }: Asked,
  sources: readonly Source[],
  { separator, sourceOfUri }: Spelling,
): readonly Source[] {
  if (!isUri) return sources.filter((source) => bareName(text, source, separator) !== undefined);
  const owner = sourceOfUri(text);
  return owner ? [owner] : [];
}

/**
 * Whether the caller might use what it asks for, if it belonged to this source. A caller is not told of sources that it
 * may not use.
 */
export function mightUse({ text, isUri, view }: Asked, source: Source, separator: string): boolean {
  const permission = permissionOf(view.principal.rights);
  if (!permission.isNarrowed) return true;
  if (!isUri)
    return permission.permits(supposedName(source.namespace, bareName(text, source, separator) ?? text, separator));
  const { prefix, own } = splitUriPrefix(text) ?? { prefix: "", own: text };
  return [text, own].some((one) => permission.permits({ type: "uri", shown: text, own: one, prefix }));
}

const CLIENT_PREFIX = "mcp__";
/** A hub's name in a client may itself hold the separator; so many places are tried. */
const MAX_CLIENT_PREFIXES = 8;

/** What stands behind a source's prefix, in any spelling that is understood. */
function bareName(name: string, { id, namespace }: Source, separator: string): string | undefined {
  for (const spelt of spellings(name)) {
    for (const prefix of [namespace, id]) {
      const found =
        prefix !== "" &&
        spelt.startsWith(prefix) &&
        [separator, ...READ_SEPARATORS].find((one) => spelt.startsWith(one, prefix.length));
      if (found) return spelt.slice(prefix.length + found.length);
    }
  }
  return undefined;
}

/** The name, and what is left of it without what clients put before names. */
function spellings(name: string): readonly string[] {
  if (!name.startsWith(CLIENT_PREFIX)) return [name];
  const parts = name.split("__").slice(0, MAX_CLIENT_PREFIXES + 1);
  const starts = parts.map((_part, at) => parts.slice(0, at).reduce((length, part) => length + part.length + 2, 0));
  return starts.map((start) => name.slice(start));
}
