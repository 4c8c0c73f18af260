import type { Principal } from "../core/call.ts";
import type { ServerFacts } from "../core/hub-port.ts";
import type { Listing } from "../core/records.ts";
import { permissionOf } from "../core/rights.ts";
import { VERSION } from "../core/version.ts";
import type { HubParts } from "./hub-parts.ts";
import { describeSources, loneSource, type SourceOffer } from "./self-description.ts";

/** What the hub calls itself towards clients. */
export const SERVER_NAME = "toolyard";

type Parts = Pick<HubParts, "catalog" | "sources" | "redactDefinition">;

/** What the hub says of itself to one principal: who it is, and what its sources want to be known of them. */
export async function serverFacts(parts: Parts, principal: Principal, waits: boolean): Promise<ServerFacts> {
  const offers = await offersFor(parts, principal, waits);
  const instructions = joinInstructions(offers);
  return {
    name: SERVER_NAME,
    version: VERSION,
    title: "Toolyard",
    ...(instructions === undefined ? {} : { instructions }),
    ...describeSources(offers, { passesMethods: !permissionOf(principal.rights).isNarrowed }),
    ...(offers.some(({ listing }) => listing.isPrivate) && { isPrivate: true }),
  };
}

async function offersFor(
  { catalog: all, sources, redactDefinition }: Parts,
  principal: Principal,
  waits: boolean,
): Promise<SourceOffer[]> {
  const catalog = all.for(principal);
  const snapshot = waits ? await catalog.snapshot() : catalog.current;
  const usable = permissionOf(principal.rights).isNarrowed ? snapshot.sourcesFor(principal) : undefined;
  return sources.providers
    .filter(({ source }) => !usable || usable.has(source.id))
    .map(({ source }) => {
      // A server may repeat what it was configured with; what others were configured with alters nothing here.
      const redact = <T>(value: T): T => redactDefinition(source.id, value);
      return { source, listing: withTexts(catalog.listingOf(source.id), redact) };
    });
}

function withTexts(listing: Listing, redact: <T>(value: T) => T): Listing {
  const { server, instructions } = listing;
  return {
    ...listing,
    ...(server && { server: redact(server) }),
    ...(instructions !== undefined && { instructions: redact(instructions) }),
  };
}

/**
 * What a client is told about using the hub; longer words of one source are cut, so that none can crowd out the others.
 */
const MAX_SOURCE_CHARS = 8_192;
const MAX_TOTAL_CHARS = 32_768;

/**
 * The instructions of all sources as one text: a lone source's own words as they came, several under the prefix of
 * their tools.
 */
function joinInstructions(sources: readonly SourceOffer[]): string | undefined {
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
