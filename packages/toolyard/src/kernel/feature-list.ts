import type { ServiceKey } from "../core/service-key.ts";
import type { AnyFeature, Complete } from "./feature.ts";
import type { KernelKey } from "./kernel-keys.ts";

/**
 * Checks a list of features at compile time: each uses only services of the kernel and of features before it. If a
 * service is missing, the compiler reports an error that names the key of the service (`MissingService`).
 */
export function featureList<const F extends readonly AnyFeature[]>(list: F & Complete<F, KernelKey>): F {
  assertOneProvider(list);
  return list;
}

/** Throws if two features provide the same key, which the type check cannot detect. */
function assertOneProvider(features: readonly AnyFeature[]): void {
  const providers = new Map<string, string>();
  for (const { name, provides, endpoints } of features) {
    for (const { id } of [...provides, ...endpoints.flatMap((endpoint): readonly ServiceKey[] => endpoint.provides)]) {
      const other = providers.get(id);
      if (other !== undefined) throw new TypeError(`The features ${other} and ${name} both provide \`${id}\`.`);
      providers.set(id, name);
    }
  }
}
