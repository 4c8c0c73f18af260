import { messageOf } from "../../core/errors.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { withoutSources } from "../source-hub.ts";
import type { BindingProblem } from "./hub-binding.ts";

export interface CheckedServers<T> {
  readonly usable: ReadonlyMap<string, T>;
  readonly problems: readonly BindingProblem[];
}

/**
 * Checks each server as a separate configuration: types of its options, variables and files. An unusable server becomes
 * a problem and does not affect the others. Disabled servers are not checked.
 */
export async function checkServers<T extends { readonly enabled?: boolean }>(
  servers: ReadonlyMap<string, T>,
  toConfig: (alias: string, server: T) => HubConfig,
): Promise<CheckedServers<T>> {
  const variables = withoutSources(process.env);
  const enabled = [...servers].filter(([, server]) => server.enabled !== false);
  const checks = await Promise.all(
    enabled.map(async ([alias, server]): Promise<BindingProblem | undefined> => {
      try {
        await loadHubConfig({ files: [], variables, flags: toConfig(alias, server) });
        return undefined;
      } catch (error) {
        return { source: alias, message: sentence(messageOf(error)) };
      }
    }),
  );
  return {
    usable: new Map(enabled.filter((_, at) => checks[at] === undefined)),
    problems: checks.filter((problem) => problem !== undefined),
  };
}

/** Returns the message with a full stop at its end. */
export function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
