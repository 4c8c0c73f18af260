import type { Models } from "../core/ports.ts";
import { VERSION } from "../core/version.ts";
import { createModels } from "../models/configured-models.ts";
import { resolveModels, type ModelsConfig } from "../models/options.ts";
import { OutboundClient } from "../outbound/outbound-client.ts";

/** The models of a configuration as it stands at each request; sources that use them need not be made anew when it changes. */
export interface LiveModels extends Models {
  close(): Promise<void>;
}

/** `variables` hold the vendors' keys and proxy settings. */
export function liveModels(config: () => ModelsConfig | undefined, variables: Readonly<Record<string, string | undefined>>): LiveModels {
  const client = new OutboundClient({ userAgent: `toolyard/${VERSION}`, environment: variables });
  const current = (): Models => createModels(resolveModels(config(), variables), client);
  const models = { close: () => client.close() };
  // A method is absent when no model of its kind is configured, which may change.
  for (const method of ["generateImage", "generateText"] as const) Object.defineProperty(models, method, { get: () => current()[method], enumerable: true });
  return models;
}
