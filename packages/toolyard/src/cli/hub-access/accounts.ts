import type { Accounts } from "../../auth/builtin/accounts.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { sharedKey } from "../../core/shared-key.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { assertAccepted } from "../input/consent.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { withStore } from "./command-store.ts";
import { readSettings } from "./settings.ts";

/** Users and clients of the hub's own sign-in, and where they are stored. */
export interface StoredAccounts extends Accounts {
  /** Resolves to true if this command has bound the store to its key. */
  readonly hasBoundKey: () => Promise<boolean>;
}

/**
 * Runs `work` with the users and clients of the hub's own sign-in: those in the store if the configuration has one,
 * otherwise those in the data folder.
 */
export async function withAccounts<T>(
  options: SharedOptions,
  io: Io,
  work: (accounts: StoredAccounts) => Promise<T>,
): Promise<T> {
  const { tree } = await readSettings(options, io);
  // A configuration file of another user must not decide where accounts are sent.
  if (tree.store !== undefined) await assertAccepted(options, io);
  return useAccounts(tree, io.env, work);
}

/** Like `withAccounts`, for a configuration that was read before. */
export async function useAccounts<T>(
  tree: HubConfig,
  env: Io["env"],
  work: (accounts: StoredAccounts) => Promise<T>,
): Promise<T> {
  const { openAccounts } = await import("../../auth/builtin/accounts.ts");
  if (tree.store === undefined) {
    const { openDiskState } = await import("../../auth/builtin/disk/disk-state.ts");
    return work({ ...openAccounts(openDiskState(dataFolder(env))), hasBoundKey: async () => false });
  }
  const key = sharedKey(env, "The hub's own sign-in");
  return withStore(tree, env, async (state) => {
    const announce = (): void => state.notifications.publish({ type: "access-ended", tokens: "" });
    const opened = await state.openAuthState!(key);
    return work({ ...openAccounts(opened, announce), hasBoundKey: async () => (await opened.bindKey?.()) === true });
  });
}
