import type { EnvironmentVariables } from "../core/environment-variables.ts";
import type { ServiceKey } from "../core/service-key.ts";
import type { AnyFeature, Contribution } from "./feature.ts";

/** Services by the ids of their keys. */
export type Services = Readonly<Record<string, unknown>>;

export interface StartedFeatures {
  readonly services: Services;
  /** Contributions in the order of the list. */
  readonly contributions: readonly Contribution[];
  /** Closes the features in the reverse order of their start. */
  close(): Promise<void>;
}

export interface FeatureStart {
  /** Services that exist before the features start. */
  readonly services: Services;
  /** Returns the current configuration. */
  readonly config: () => unknown;
  /** List to which the contribution of each started feature is added. */
  readonly contributions?: Contribution[];
}

/** Loads the code that the features need with a configuration. Rejects with an `OptionError` if it is invalid. */
export async function prepareFeatures(
  features: readonly Pick<AnyFeature, "prepare">[],
  config: object,
  variables: EnvironmentVariables,
): Promise<void> {
  // The type assertion is safe: each feature reads only its own sections.
  for (const { prepare } of features) if (prepare) await prepare(config as never, variables);
}

/** Starts features in the order of their list. Each receives the services that it declares. */
export function startFeatures(
  features: readonly AnyFeature[],
  { services: given, config, contributions = [] }: FeatureStart,
): StartedFeatures {
  const services: Record<string, unknown> = { ...given };
  for (const feature of features) {
    const start = feature.start as StartsFeature | undefined;
    const started = start?.(pickServices(services, feature.uses), config);
    if (!started) continue;
    Object.assign(services, started.services);
    contributions.push(started);
  }
  return {
    services,
    contributions,
    close: async () => {
      for (const { close } of contributions.toReversed()) await close?.();
    },
  };
}

// The type assertion is safe: the compiler has checked the list, so each feature receives the services that it uses.
type StartsFeature = (services: Services, config: () => unknown) => Contribution & { readonly services?: Services };

/** Returns the service of a key. Throws if no feature provides it. */
export function getService<T, Id extends string>(services: Services, key: ServiceKey<T, Id>): T {
  // The type assertion is safe: keys are typed constants, and the types in the list of features were checked.
  return pickServices(services, [key])[key.id] as T;
}

/** Returns the services with these keys. Throws if one of them is not provided. */
export function pickServices(services: Services, keys: readonly { readonly id: string }[]): Services {
  return Object.fromEntries(
    keys.map(({ id }) => {
      if (!(id in services)) throw new TypeError(`No feature provides the service \`${id}\`.`);
      return [id, services[id]];
    }),
  );
}
