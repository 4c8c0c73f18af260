import type { ServerRecord } from "./records.ts";

/** What to ask for: as configured, else as the challenge or the metadata say, beside what was asked before. */
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
    /** Of a sign-in that is widened. */
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
