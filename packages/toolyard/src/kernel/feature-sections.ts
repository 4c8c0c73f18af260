import type { OptionSchema, Sections } from "../core/options/option-schema.ts";
import { Type } from "../core/options/option-schema.ts";
import { HTTP_OPTION_SCHEMAS } from "../http/options.ts";
import type { AnyEndpoint, AnyFeature, AnyKind } from "./feature.ts";
import { STORES } from "../state/stores.ts";
import type { StoreKinds } from "../state/ports/store.ts";
import { joinSections } from "./sections.ts";

/** Configuration of the listener, which all endpoints share. */
const LISTENER = {
  schema: {
    server: Type.Optional(
      Type.Object(HTTP_OPTION_SCHEMAS, { description: "The endpoints: where and how the hub is served." }),
    ),
  },
} satisfies { readonly schema: Sections };

export type ListenerSections = typeof LISTENER.schema;

export function sourceKindsOf(features: readonly AnyFeature[]): readonly AnyKind[] {
  return features.flatMap(({ sources }) => sources);
}

export function endpointKindsOf(features: readonly AnyFeature[]): readonly AnyEndpoint[] {
  return features.flatMap(({ endpoints }) => endpoints);
}

/** Returns the sections of the listener and the endpoints. Sections with the same name are merged member by member. */
export function endpointSections(features: readonly AnyFeature[]): Sections {
  return joinSections([LISTENER, ...endpointKindsOf(features)]);
}

/**
 * Returns the schema of the whole configuration: the merged sections of all features, their endpoints and their source
 * kinds.
 */
export function configSchema(features: readonly AnyFeature[], stores: StoreKinds = STORES): OptionSchema {
  return {
    type: "object",
    properties: joinSections([
      { schema: endpointSections(features) },
      ...features,
      ...sourceKindsOf(features),
      ...Object.values(stores).map(({ schema = {} }) => ({ schema })),
    ]),
    additionalProperties: false,
  };
}
