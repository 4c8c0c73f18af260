import type { JsonObject } from "../core/json/json.ts";
import type { Fail } from "../core/calls/outcome.ts";
import type { ProviderState, ProviderStatus } from "../core/sources/provider.ts";
import type { EraName } from "./connection/era.ts";
import type { Installer } from "./links/installer.ts";
import type { Link } from "./links/link.ts";

export interface StatusFacts {
  readonly link: Link;
  readonly isClosed: boolean;
  readonly isLazy: boolean;
  /** True if the server was never listed and has not failed. */
  readonly isCold: boolean;
  /** True if changed lists are about to be read. */
  readonly isListing: boolean;
  /** The failure of the last reading of the lists. */
  readonly listingFailure: Fail | undefined;
  readonly era: EraName | undefined;
  /** Facts of each link in addition to the first. */
  readonly further: readonly JsonObject[];
  readonly stderr: readonly string[];
  readonly installer: Pick<Installer, "installation" | "brokenInstall"> | undefined;
}

/** Returns the status of one server. */
export function toStatus(facts: StatusFacts): ProviderStatus {
  const { state, failure, restarts, since, delayedMs } = facts.link;
  const info = infoOf(facts);
  const { pid } = info;
  const { installation: installing, brokenInstall: broken } = facts.installer ?? {};
  const lastError = failure?.message ?? facts.listingFailure?.message;
  return {
    state: stateOf(facts),
    ...(lastError !== undefined && { lastError }),
    stderr: facts.stderr,
    restarts,
    ...(typeof pid === "number" && { pid }),
    since: since.toISOString(),
    ...(installing && { installing }),
    ...(delayedMs > 0 && { delayedMs: Math.round(delayedMs) }),
    ...(facts.isListing && { isListing: true }),
    ...(broken && state !== "ready" && { broken }),
    info,
  };
}

function infoOf({ link: { state, current }, era, further }: StatusFacts): JsonObject {
  return {
    ...current?.describe(),
    ...(era && !current && { era }),
    ...(further.length > 0 && { further: [...further] }),
    ...(state === "idle" && { asleep: true }),
  };
}

function stateOf(facts: StatusFacts): ProviderState {
  const { state, failure } = facts.link;
  if (facts.isClosed || state === "closed") return "closed";
  if (facts.installer?.installation) return "starting";
  if ((failure ?? facts.listingFailure)?.kind === "needs_authorisation") return "needs_authorisation";
  if (state === "ready" || state === "idle") return stateOfReachable(state, facts);
  return failure === undefined ? "starting" : "down";
}

function stateOfReachable(state: "ready" | "idle", { isCold, isLazy, listingFailure }: StatusFacts): ProviderState {
  // A connected server still counts as starting, because its lists are not known yet.
  if (isCold) return "starting";
  if (state === "ready") return listingFailure ? "degraded" : "ready";
  return isLazy ? "ready" : "starting";
}
