import { randomBytes } from "node:crypto";
import type { HubConfig } from "../../hub/schema.ts";
import type { HubState } from "../../state/ports/store.ts";

/** Runs `work` with the store of a configuration, as a member that leaves the store afterwards. */
export async function withStore<T>(
  tree: HubConfig,
  variables: Readonly<Record<string, string | undefined>>,
  work: (state: HubState) => Promise<T>,
): Promise<T> {
  const { openStore } = await import("../../state/stores.ts");
  const importRedis = async (): Promise<unknown> =>
    (await import("../../extras/import-extra.ts")).importExtra("redis", "ioredis", { purpose: "`[store]`" });
  const state = await openStore(tree, { importRedis, variables }).join(`command-${randomBytes(6).toString("hex")}`);
  try {
    return await work(state);
  } finally {
    await state.flush();
    await state.leave();
  }
}
