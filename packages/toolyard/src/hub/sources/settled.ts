import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { View } from "../../core/ports/hub-port.ts";
import type { Preparation, ProviderStatus } from "../../core/sources/provider.ts";
import type { Hub } from "../hub.ts";
import type { SourceSet } from "./source-set.ts";

export interface SettledOptions {
  /**
   * The time does not run while something is downloaded, nor while the machine keeps a start from working: both have
   * limits of their own. @default false
   */
  readonly installs?: boolean;
  /** Waits also for sources that read changed lists. @default false */
  readonly lists?: boolean;
}

const WHOLE_VIEW: View = { mode: "all", principal: LOCAL_PRINCIPAL };
/** A connection's state may change without an event. */
const STATE_LOOK_MS = 100;

/** Resolves once no source is starting any more, or after `withinMs`. */
export async function settled(
  { port, sources }: Pick<Hub, "port" | "sources">,
  withinMs: number,
  { installs = false, lists = false }: SettledOptions = {},
): Promise<void> {
  let until = performance.now() + withinMs;
  await port.list("tools", WHOLE_VIEW);
  const isStarting = (): boolean =>
    sources.providers.some((provider) => isUnderWay(provider.status(), lists)) || (installs && isInstalling(sources));
  let delayedMs = 0;
  while (performance.now() < until + delayedMs && isStarting()) {
    await new Promise((done) => void setTimeout(done, STATE_LOOK_MS));
    // A download is followed by a start, which has the same time for itself.
    if (installs && isInstalling(sources)) until = performance.now() + withinMs;
    // A start that is delayed by a busy machine gets that much more time, up to its own limit.
    if (installs) delayedMs = Math.max(delayedMs, delayOf(sources));
  }
  // A source is connected a moment before its list is in the catalog.
  await port.list("tools", WHOLE_VIEW);
}

/** Returns what tools of the sources need installed, by source. Installs nothing. */
export async function preparationsOf(
  sources: SourceSet,
): Promise<readonly (Preparation & { readonly source: string })[]> {
  const lists = sources.providers.map(async (provider) =>
    ((await provider.preparations?.()) ?? []).map((one) => ({ ...one, source: provider.source.id })),
  );
  return (await Promise.all(lists)).flat();
}

function isInstalling({ providers }: SourceSet): boolean {
  return providers.some((provider) => provider.status().installing !== undefined);
}

/** How much of its time the machine took from a start under way, at most. */
function delayOf({ providers }: SourceSet): number {
  return Math.max(0, ...providers.map((provider) => provider.status().delayedMs ?? 0));
}

function isUnderWay({ state, isListing = false }: ProviderStatus, lists: boolean): boolean {
  return state === "starting" || (lists && isListing);
}
