import { stat } from "node:fs/promises";
import type { JsonObject } from "../../core/json/json.ts";

/**
 * Returns a warning if the added servers contain secrets and other users of this machine may read the configuration.
 */
export async function exposure(
  target: string,
  servers: readonly { readonly options: JsonObject }[],
): Promise<readonly string[]> {
  const holdsSecrets = servers.some(({ options }) => ["env", "headers", "token"].some((key) => key in options));
  if (!holdsSecrets || process.platform === "win32") return [];
  const { mode } = await stat(target);
  if ((mode & 0o077) === 0) return [];
  return [
    `others on this machine may read ${target}, which now holds the servers' variables and headers; ` +
      "`chmod 600` keeps it to you",
  ];
}
