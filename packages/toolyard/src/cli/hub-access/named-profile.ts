import type { LoadedHubConfig } from "../../hub/schema.ts";
import { noProfile } from "../../hub/serve/local-profile.ts";
import { UsageError } from "../failure.ts";

/**
 * Throws a `UsageError` if `--profile` names no profile of the configuration. A client that starts the hub later shows
 * its user no message of the hub.
 */
export function assertProfile({ tree }: Pick<LoadedHubConfig, "tree">, options: { readonly profile?: string }): void {
  const names = Object.keys(tree.profiles ?? {});
  if (options.profile !== undefined && !names.includes(options.profile))
    throw new UsageError(noProfile(options.profile, names));
}
