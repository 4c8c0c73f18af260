import type { ServerRecord } from "./records.ts";

/**
 * Returns the scopes to request: the configured scopes, else those of the challenge or the metadata; earlier ones are
 * added.
 */
export function scopesToAsk(
  {
    configured,
    challenged,
    described,
    before,
  }: {
    readonly configured?: string | undefined;
    readonly challenged?: string | undefined;
    readonly described?: string | undefined;
    /** Scopes of the earlier sign-in that is extended. */
    readonly before: readonly string[];
  },
  { scopes_supported: known }: Pick<ServerRecord, "scopes_supported">,
): readonly string[] {
  const asked = words(configured ?? challenged ?? described);
  const all = [...new Set([...before, ...asked])];
  const hasOffline = Array.isArray(known) && known.includes("offline_access");
  return all.length > 0 && hasOffline && !all.includes("offline_access") ? [...all, "offline_access"] : all;
}

export function words(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(" ").filter((word) => word !== "");
}
