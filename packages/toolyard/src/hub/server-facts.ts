import type { Principal } from "../core/calls/call.ts";
import type { ServerFacts } from "../core/ports/hub-port.ts";
import type { Listing } from "../core/sources/records.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { PROFILES } from "../core/services.ts";
import { VERSION } from "../core/version.ts";
import { getService } from "../kernel/start-features.ts";
import { TELEMETRY } from "../kernel/telemetry.ts";
import type { Kernel } from "./kernel.ts";
import { joinInstructions } from "./joined-instructions.ts";
import { describeSources, type SourceOffer } from "./self-description.ts";

/** Name of the hub for clients. */
export const SERVER_NAME = "toolyard";

type ServerFactsParts = Pick<Kernel, "catalog" | "sources" | "services">;

/** Returns the description of the hub for one principal: its identity, and the descriptions of its sources. */
export async function serverFacts(parts: ServerFactsParts, principal: Principal, waits: boolean): Promise<ServerFacts> {
  const offers = await offersFor(parts, principal, waits);
  const profile = principal.profile && getService(parts.services, PROFILES).find(principal.profile.name);
  const instructions = profile?.instructions ?? joinInstructions(offers);
  return {
    name: SERVER_NAME,
    version: VERSION,
    title: profile?.title ?? "Toolyard",
    ...(instructions === undefined ? {} : { instructions }),
    ...describeSources(offers, { passesMethods: !permissionOf(principal.rights).isNarrowed }),
    ...(offers.some(({ listing }) => listing.isPrivate) && { isPrivate: true }),
  };
}

async function offersFor(
  { catalog: all, sources, services }: ServerFactsParts,
  principal: Principal,
  waits: boolean,
): Promise<SourceOffer[]> {
  const { redactor } = getService(services, TELEMETRY);
  const catalog = all.for(principal);
  const snapshot = waits ? await catalog.snapshot() : catalog.current;
  const usable = permissionOf(principal.rights).isNarrowed ? snapshot.sourcesFor(principal) : undefined;
  return sources.providers
    .filter(({ source }) => !usable || usable.has(source.id))
    .map(({ source }) => {
      // Only the source's own secrets are removed from its texts, because the secret of another source may be an
      // ordinary word in them.
      const redact = <T>(value: T): T => redactor.definitionIn(source.id, value);
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
