import type { HubConfig } from "../schema.ts";
import type { AnyFeature } from "../../kernel/feature.ts";
import { endpointKindsOf, endpointSections } from "../../kernel/feature-sections.ts";
import { pickServices, type Services } from "../../kernel/start-features.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { HEALTH_PATHS } from "../../http/health.ts";

export type ServerConfig = NonNullable<HubConfig["server"]>;

/** Part of a configuration that endpoints read. */
export type EndpointsConfig = Readonly<Record<string, unknown>> & { readonly server?: ServerConfig };

/** Returns the paths that are always served. Configured paths must not equal them or be below them. */
export function fixedPaths(features: readonly AnyFeature[]): readonly string[] {
  return [...HEALTH_PATHS, ...endpointKindsOf(features).flatMap(({ paths }) => paths)];
}

/** Endpoint that the configuration requests, and the keys of the services that it uses. */
export interface RequestedEndpoint {
  readonly uses: readonly { readonly id: string }[];
  readonly open: (services: Services) => Promise<Endpoint & { readonly services?: Services }>;
}

/**
 * Returns the endpoints that the configuration requests, without opening them. Throws an `OptionError` if the options
 * of one are invalid.
 */
export function wantedEndpoints(
  features: readonly AnyFeature[],
  config: EndpointsConfig,
): readonly RequestedEndpoint[] {
  const taken = fixedPaths(features);
  return endpointKindsOf(features).flatMap(({ uses, wanted }) => {
    // The type assertion is safe: `featureList` has checked that each endpoint gets the services that it uses and reads
    // only its own sections.
    const open = (wanted as EndpointReader)(config, taken);
    return open ? [{ uses, open }] : [];
  });
}

type EndpointReader = (config: EndpointsConfig, taken: readonly string[]) => RequestedEndpoint["open"] | undefined;

/**
 * Opens endpoints in order. An endpoint may use services that earlier ones provide. If one cannot be opened, the
 * earlier ones are closed.
 */
export async function openWanted(wanted: readonly RequestedEndpoint[], given: Services): Promise<readonly Endpoint[]> {
  const services: Record<string, unknown> = { ...given };
  const endpoints: Endpoint[] = [];
  try {
    for (const { uses, open } of wanted) {
      const endpoint = await open(pickServices(services, uses));
      Object.assign(services, endpoint.services);
      endpoints.push(endpoint);
    }
    return endpoints;
  } catch (error) {
    for (const endpoint of endpoints) endpoint.close();
    throw error;
  }
}

/**
 * Returns the parts of the configuration that HTTP endpoints read. If this text changes, they must be opened again.
 */
export function endpointsOf(features: readonly AnyFeature[], config: object): string {
  const tree = config as Readonly<Record<string, unknown>>;
  const others = features
    .filter(({ changesEndpoints }) => changesEndpoints)
    .flatMap(({ schema }) => Object.keys(schema));
  return JSON.stringify([...Object.keys(endpointSections(features)), ...others].map((name) => tree[name] ?? {}));
}
