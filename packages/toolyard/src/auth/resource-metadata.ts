import type { AccessDocument, AccessPlace } from "../core/access.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { BindingRules } from "./challenge.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

export interface ResourceFacts {
  /** Returns the issuers of accepted tokens. */
  readonly issuers: () => readonly string[];
  /** Returns the scopes that clients may request. */
  readonly scopes: () => readonly string[];
  readonly binding: BindingRules;
}

/** Returns the protected-resource metadata (RFC 9728) of the hub and of each endpoint. */
export function resourceDocument(
  { issuers, scopes, binding }: ResourceFacts,
  place: () => AccessPlace | undefined,
): AccessDocument {
  const read = (path: string): JsonObject | undefined => {
    const known = place();
    if (!known || (path !== "" && !known.isMount(path))) return undefined;
    return {
      resource: `${known.baseUrl}${path}`,
      authorization_servers: issuers(),
      bearer_methods_supported: ["header"],
      dpop_signing_alg_values_supported: binding.algorithms,
      ...(binding.isRequired && { dpop_bound_access_tokens_required: true }),
      ...(scopes().length > 0 && { scopes_supported: scopes() }),
      resource_name: "Toolyard",
    };
  };
  return { path: WELL_KNOWN, isTree: true, read };
}

/** Returns the address of an endpoint's resource metadata. `mount`: path of the endpoint below the base path. */
export function resourceMetadataUrl({ baseUrl }: AccessPlace, mount: string): string {
  const { origin, pathname } = new URL(baseUrl);
  const path = `${pathname.replace(/\/$/, "")}${mount === "/" ? "" : mount}`;
  return `${origin}${WELL_KNOWN}${path}`;
}
