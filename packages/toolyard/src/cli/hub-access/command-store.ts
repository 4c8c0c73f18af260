import { randomBytes } from "node:crypto";
import { fail } from "../../core/calls/outcome.ts";
import { FailError, messageOf, OptionError } from "../../core/errors.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { StoreLostError, type HubState } from "../../state/ports/store.ts";

/**
 * Runs `work` with the store of a configuration, as a member that leaves the store afterwards. A `StoreLostError` of
 * `work` becomes a failure `unavailable` with its cause, or an `OptionError` if the store was encrypted with another
 * key.
 */
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
  } catch (error) {
    throw failureOf(error);
  } finally {
    await state.flush();
    await state.leave();
  }
}

function failureOf(error: unknown): unknown {
  const lost = [error, error instanceof Error ? error.cause : undefined].find((one) => one instanceof StoreLostError);
  if (!lost) return error;
  const { cause } = lost;
  if (cause instanceof OptionError) return cause;
  const reason = cause === undefined ? "The connection was lost. Try again." : messageOf(cause);
  // Redis names the command that its access control list does not permit, but not where to permit it.
  const isForbidden = /NOPERM|no permissions|user executing the script/.test(reason);
  const advice = isForbidden ? " Permit it in the access control list of the user of the store." : "";
  const message = `The shared store of \`[store]\` cannot be used: ${reason}${advice}`;
  return new FailError(fail("unavailable", message, { cause: error }));
}
