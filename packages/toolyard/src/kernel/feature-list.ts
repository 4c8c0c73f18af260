import type { ServiceKey } from "../core/service-key.ts";
import type { AnyFeature, Complete } from "./feature.ts";
import type { KernelKey } from "./kernel-keys.ts";

/**
 * Checks a list of features when it is compiled: each uses only services of the kernel and of features before it. A
 * feature that lacks one does not fit its place, and the compiler names the key (`MissingService`).
 */
export function featureList<const F extends readonly AnyFeature[]>(list: F & Complete<F, KernelKey>): F {
  assertOneProvider(list);
  return list;
}

/** The type check cannot detect a second provider of a key. */
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
