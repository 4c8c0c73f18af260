import { factsOf, type ProviderKind } from "../../core/sources/provider-kinds.ts";
import type { Hub } from "../hub.ts";

/**
 * Returns true for sources on this machine. The hub's own tools do not count, because the tools that they find and call
 * may be anywhere.
 */
export function isOnThisMachine(kind: ProviderKind): boolean {
  const { isLocal, isHub = false } = factsOf(kind);
  return isLocal && !isHub;
}

export interface LocalWait {
  readonly signal?: AbortSignal;
  /** Called once, after a second, with the names of the sources that are still starting. */
  readonly onWaiting?: (names: readonly string[]) => void;
}

const REPORT_AFTER_MS = 1000;

/**
 * Waits until local sources have started or failed: modules are imported, each within its own `timeout`. Does not wait
 * for remote servers. Keeps the process alive. Rejects with a `FailError` when `signal` is aborted.
 */
export async function localSourcesStarted(hub: Hub, { signal, onWaiting }: LocalWait = {}): Promise<void> {
  const starting = (): readonly string[] => localFacts(hub, "loading");
  let isTold = false;
  const timer = setInterval(() => {
    const names = starting();
    if (!isTold && names.length > 0) onWaiting?.(names);
    isTold = true;
  }, REPORT_AFTER_MS);
  try {
    const { signal: never } = new AbortController();
    const local = hub.port.sources().filter(({ source }) => isOnThisMachine(source.kind));
    await Promise.all(local.map(({ source }) => hub.sources.refresh(source.id, signal ?? never)));
  } finally {
    clearInterval(timer);
  }
}

/** Returns the names of modules that could not be imported. Their tools are missing. */
export function missingModules(hub: Hub): readonly string[] {
  return localFacts(hub, "notLoaded");
}

function localFacts(hub: Hub, fact: "loading" | "notLoaded"): readonly string[] {
  return hub.port.sources().flatMap(({ source, status }) => {
    const names = isOnThisMachine(source.kind) ? status.info?.[fact] : undefined;
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  });
}
