import type { AuthLibrary } from "../../auth/builtin/auth-server.ts";
import { importExtra } from "../../extras/import-extra.ts";

/**
 * Loads `oidc-provider`. It writes to the console that it prefers a newer Node, which is left out: it is tested
 * on the oldest Node that the hub supports.
 */
export async function loadAuthLibrary(): Promise<AuthLibrary> {
  const { warn, info } = console;
  const silent = (): void => {};
  Object.assign(console, { warn: silent, info: silent });
  try {
    return await importExtra<AuthLibrary>("sign-in", "oidc-provider", { purpose: '`auth.modes` with "builtin"' });
  } finally {
    Object.assign(console, { warn, info });
  }
}
