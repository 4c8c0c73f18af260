import type { AuthLibrary } from "../../auth/builtin/auth-server.ts";
import { importExtra } from "../../extras/import-extra.ts";

/**
 * Loads `oidc-provider`. Suppresses its console message that recommends a newer Node, because the hub is tested with
 * the library on the oldest supported Node.
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
