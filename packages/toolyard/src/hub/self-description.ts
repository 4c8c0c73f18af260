import { stringifyExact } from "../core/json/exact-json.ts";
import { cleanDefinition } from "../catalog/clean-definition.ts";
import { revealDefinition } from "../catalog/hidden-texts.ts";
import type { ServerFacts } from "../core/ports/hub-port.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { isHubItself } from "../core/sources/provider-kinds.ts";
import { joinExtensions, withoutUnserved } from "./declared-capabilities.ts";
import { NO_FEATURES, type Listing, type Source, type SourceFeatures } from "../core/sources/records.ts";

export interface SourceOffer {
  readonly source: Source;
  readonly listing: Listing;
}

/** Maximum length of a server's title and description that are shown as the hub's. */
const MAX_TEXT_CHARS = 8192;

/** Returns the source of a hub that has only one. The hub's own tools do not count. */
export function loneSource(sources: readonly SourceOffer[]): SourceOffer | undefined {
  const [only, ...others] = sources.filter(({ source }) => !isHubItself(source));
  return others.length === 0 ? only : undefined;
}

export interface DescriptionOptions {
  /**
   * True if the single source receives the methods that the hub does not know. Its declared capabilities then apply to
   * the hub too.
   */
  readonly passesMethods: boolean;
}

/**
 * Describes the hub with the texts of its sources (decision 0013). The texts of a single source are unchanged. Of
 * several sources, only the instructions are combined.
 */
export function describeSources(
  sources: readonly SourceOffer[],
  { passesMethods }: DescriptionOptions,
): Pick<ServerFacts, "features" | "about" | "capabilities"> {
  const features = joinFeatures(sources.map(({ listing }) => listing.features));
  const lone = loneSource(sources)?.listing.server;
  if (!lone) return { features, capabilities: joinCapabilities(sources) };
  // Name and version are always those of the hub, because the hub answers the client.
  const { name: _name, version: _version, ...about } = lone.info;
  const capabilities = passesMethods ? lone.capabilities : withoutUnserved(lone.capabilities);
  return { features, about: cleaned(about), capabilities };
}

function cleaned(info: JsonObject): JsonObject {
  const about = revealDefinition(info).definition;
  const rules = { maxChars: MAX_TEXT_CHARS, hide: (text: string) => text };
  return cleanDefinition(about, stringifyExact(about), rules)?.definition ?? about;
}

/** Returns the lists that at least one source has, and the extensions without methods. */
function joinCapabilities(sources: readonly SourceOffer[]): JsonObject {
  const declared = sources.map(({ listing }) => listing.server?.capabilities ?? {});
  const lists = ["resources", "prompts"].filter((list) => declared.some((one) => isJsonObject(one[list])));
  return { ...Object.fromEntries(lists.map((list) => [list, {}])), ...joinExtensions(declared) };
}

function joinFeatures(features: readonly SourceFeatures[]): SourceFeatures {
  return features.reduce(
    (all, one) => ({
      completions: all.completions || one.completions,
      subscribe: all.subscribe || one.subscribe,
      logging: all.logging || one.logging,
    }),
    NO_FEATURES,
  );
}
