import type { Catalog } from "../catalog/catalog.ts";
import type { Principal } from "../core/calls/call.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Provider } from "../core/sources/provider.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { hasUnservedCapabilities } from "./declared-capabilities.ts";
import { loneSource } from "./self-description.ts";
import type { SourceSet } from "./sources/source-set.ts";

/**
 * Returns the only source of a hub if methods that the hub does not know are passed on to that source (decision 0013).
 * The conditions are that its server declares a capability that the hub does not implement, and that the caller's
 * rights are not narrowed.
 */
export function passThroughProvider(
  { catalog, sources }: { readonly catalog: Catalog; readonly sources: SourceSet },
  principal: Principal,
): Provider | undefined {
  if (permissionOf(principal.rights).isNarrowed) return undefined;
  const own = catalog.for(principal);
  const offers = sources.providers.map(({ source }) => ({ source, listing: own.listingOf(source.id) }));
  const lone = loneSource(offers);
  const declared: JsonObject = lone?.listing.server?.capabilities ?? {};
  return lone && hasUnservedCapabilities(declared) ? sources.find(lone.source.id) : undefined;
}
