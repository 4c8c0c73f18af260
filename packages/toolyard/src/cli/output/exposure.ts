import { stat } from "node:fs/promises";
import type { JsonObject } from "../../core/json/json.ts";

/** Returns the secrets that other users of this machine could read in a configuration with these servers added. */
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
