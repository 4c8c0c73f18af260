import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { View } from "../../core/ports/hub-port.ts";
import type { Preparation, ProviderStatus } from "../../core/sources/provider.ts";
import type { Hub } from "../hub.ts";
import type { SourceSet } from "./source-set.ts";

export interface SettledOptions {
  /**
   * True to stop the clock during downloads, and while the machine is too busy for a start. Both have separate limits.
   * @default false
   */
  readonly installs?: boolean;
  /** True to wait also for sources that are reading changed lists. @default false */
  readonly lists?: boolean;
}

const WHOLE_VIEW: View = { mode: "all", principal: LOCAL_PRINCIPAL };
/** Milliseconds between two checks of the state, because a connection's state may change without an event. */
const STATE_LOOK_MS = 100;

/** Resolves when no source is starting, or after `withinMs` milliseconds. */
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
    // After a download the source starts, so the whole time limit begins again.
    if (installs && isInstalling(sources)) until = performance.now() + withinMs;
    // If a busy machine delays a start, the delay is added to its time, up to a separate limit.
    if (installs) delayedMs = Math.max(delayedMs, delayOf(sources));
  }
  // A source may be connected shortly before the catalog has read its list, so the list is awaited too.
  await port.list("tools", WHOLE_VIEW);
}

/** Returns the installs that tools of the sources need, by source. Installs nothing. */
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

/** Returns how long a busy machine has delayed the starts that are still running: the longest delay. */
function delayOf({ providers }: SourceSet): number {
  return Math.max(0, ...providers.map((provider) => provider.status().delayedMs ?? 0));
}

function isUnderWay({ state, isListing = false }: ProviderStatus, lists: boolean): boolean {
  return state === "starting" || (lists && isListing);
}
