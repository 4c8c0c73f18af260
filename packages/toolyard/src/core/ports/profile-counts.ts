import { LOCAL_PRINCIPAL, type Principal } from "../calls/call.ts";
import type { MadeHub } from "../services.ts";
import type { View } from "./hub-port.ts";
import { withProfile, type Profiles } from "./profiles.ts";

type CountedHub = Pick<MadeHub, "port" | "tools">;

/** Number of tools, prompts and resources that a caller may use, without the search tools. */
export interface OfferCounts {
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
}

/** Current content of a profile, for callers with full rights. */
export interface ProfileCounts extends OfferCounts {
  readonly name: string;
}

/** Counts the content of each profile. Includes only sources that have been listed. */
export function profileCounts({ all }: Pick<Profiles, "all">, hub: CountedHub): Promise<readonly ProfileCounts[]> {
  return Promise.all(
    all.map(async (profile) => {
      const principal = withProfile(LOCAL_PRINCIPAL, profile) ?? LOCAL_PRINCIPAL;
      return { name: profile.name, ...(await offerCounts(principal, hub)) };
    }),
  );
}

/** Counts what a caller may use. Includes only sources that have been listed. */
export async function offerCounts(principal: Principal, { port, tools }: CountedHub): Promise<OfferCounts> {
  const view: View = { mode: "all", principal };
  const prompts = await port.list("prompts", view, { waits: false });
  const { resources } = tools.counts(principal);
  return { tools: tools.registeredTools(principal), prompts: prompts.entries.length, resources };
}
