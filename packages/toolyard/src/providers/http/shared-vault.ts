import type { Logger } from "../../core/ports/ports.ts";
import { KEY_VARIABLE, keyIn } from "../../core/shared-key.ts";
import { sharedSignIns } from "../../signin/store-vault.ts";
import type { SharedSignIns } from "../../signin/vault-port.ts";
import type { HubState } from "../../state/ports/store.ts";
import type { RemoteServerOptions } from "./options.ts";
import { mayBeSignedIn } from "./sign-in-place.ts";

export interface SharedVaultPlace {
  readonly options: RemoteServerOptions;
  readonly state: Pick<HubState, "openVault">;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly logger: Pick<Logger, "warning">;
}

/**
 * Opens the vault of all hubs of a store for a server to which users may sign in. Without the key of the hubs, each hub
 * has a vault in its data folder. Rejects with an `OptionError` if other hubs have another key.
 */
export async function openSharedVault({
  options,
  state,
  variables,
  logger,
}: SharedVaultPlace): Promise<SharedSignIns | undefined> {
  if (!mayBeSignedIn(options)) return undefined;
  const key = keyIn(variables);
  const shared = key && (await state.openVault?.(key));
  if (shared) return sharedSignIns(shared);
  logger.warning(`This hub stores sign-ins to servers for itself. Set ${KEY_VARIABLE} at all hubs to share them.`);
  return undefined;
}
