import { loneSource, type SourceOffer } from "./self-description.ts";

/**
 * What a client is told about using the hub; longer words of one source are cut, so that none can crowd out the others.
 */
const MAX_SOURCE_CHARS = 8_192;
const MAX_TOTAL_CHARS = 32_768;

/**
 * The instructions of all sources as one text: a lone source's own words as they came, several under the prefix of
 * their tools.
 */
export function joinInstructions(sources: readonly SourceOffer[]): string | undefined {
  const speaking = sources.filter(
    ({ listing }) => listing.instructions !== undefined && listing.instructions.trim() !== "",
  );
  const [only] = speaking;
  if (only === undefined) return undefined;
  if (loneSource(sources)) return only.listing.instructions!;
  const sections = speaking.map(
    ({ source, listing }) => `## ${source.namespace || source.id}\n\n${cut(listing.instructions!, MAX_SOURCE_CHARS)}`,
  );
  return cut(sections.join("\n\n"), MAX_TOTAL_CHARS);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
