import type { View } from "../core/ports/hub-port.ts";
import type { Source } from "../core/sources/records.ts";
import { permissionOf, supposedName } from "../core/ports/rights.ts";
import type { Spellings } from "../core/names/spelling.ts";
import { splitUriPrefix } from "../core/uris/uri-prefix.ts";

/** Name or URI as the caller wrote it. */
export interface RequestedName {
  /** Name of a tool or prompt, or a URI. */
  readonly text: string;
  readonly isUri: boolean;
  /** True if the name is looked up as the name of a tool only. @default false */
  readonly isTool?: boolean;
  readonly view: View;
}

/** Spellings and URI prefixes of the latest snapshot. */
export interface SpellingLookup {
  readonly spellings: Spellings;
  /** Returns the source with the prefix of a URI. */
  sourceOfUri(uri: string): Source | undefined;
}

/** Returns the sources with the prefix of the name. Empty if the name has no prefix and could belong to any source. */
export function namedSources(
  { text, isUri }: RequestedName,
  sources: readonly Source[],
  { spellings, sourceOfUri }: SpellingLookup,
): readonly Source[] {
  if (!isUri) {
    const owners = spellings.read(text)?.owners;
    return owners ? sources.filter(({ id }) => owners.has(id)) : [];
  }
  const owner = sourceOfUri(text);
  return owner ? [owner] : [];
}

interface Names {
  readonly separator: string;
  readonly spellings: Spellings;
}

/**
 * Returns true if the caller would be permitted to use the name if this source had it. Messages do not mention sources
 * that the caller may not use.
 */
export function mightUse(
  { text, isUri, view }: RequestedName,
  source: Source,
  { separator, spellings }: Names,
): boolean {
  const permission = permissionOf(view.principal.rights);
  if (!permission.isNarrowed) return true;
  const { id, namespace } = source;
  if (!isUri) {
    const name = bareName(text, source, spellings) ?? text;
    return permission.permits(supposedName({ namespace, separator, source: id }, name));
  }
  const { prefix, own } = splitUriPrefix(text) ?? { prefix: "", own: text };
  return [text, own].some((one) => permission.permits({ type: "uri", shown: text, own: one, prefix, source: id }));
}

/** Returns the name after the prefix if the spelling belongs to this source, otherwise `undefined`. */
function bareName(name: string, { id }: Source, spellings: Spellings): string | undefined {
  const reading = spellings.read(name);
  return reading?.owners.has(id) === true ? (reading.rests[0] ?? reading.name) : undefined;
}
