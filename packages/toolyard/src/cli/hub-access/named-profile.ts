import type { LoadedHubConfig } from "../../hub/schema.ts";
import { noProfile } from "../../hub/serve/local-profile.ts";
import { UsageError } from "../failure.ts";

/**
 * Throws a `UsageError` if `--profile` is not a profile of the configuration. The check is made now, because clients do
 * not show the messages of a hub that they start later.
 */
export function assertProfile({ tree }: Pick<LoadedHubConfig, "tree">, options: { readonly profile?: string }): void {
  const names = Object.keys(tree.profiles ?? {});
  if (options.profile !== undefined && !names.includes(options.profile))
    throw new UsageError(noProfile(options.profile, names));
}
