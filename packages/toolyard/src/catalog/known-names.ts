import type { Principal, ToolMode } from "../core/calls/call.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { RequestedName } from "./cold-owners.ts";
import type { ListingGate } from "./listing-gate.ts";
import type { FoundTarget } from "./lookup.ts";
import type { Snapshot } from "./snapshot.ts";

/** Maximum number of names that are kept. */
const MAX_NAMES = 500;

/** Result of a look-up, and everything on which it depends. */
export interface KnownName<T extends CallTarget = CallTarget> {
  readonly lookup: FoundTarget<T>;
  readonly snapshot: Snapshot;
  /** Gates of the sources that may have the name: the tool's own source and those of higher precedence. */
  readonly asked: readonly ListingGate[];
}

interface KeptName extends KnownName {
  readonly principal: Principal;
  readonly mode: ToolMode;
  /** All gates of the catalog. */
  readonly gates: readonly ListingGate[];
}

/**
 * Caches the results of look-ups of tools by their listed names, because clients call the same few tools repeatedly.
 */
export class KnownNames {
  readonly #names = new Map<string, KeptName>();
  #snapshot: Snapshot | undefined;

  /** Returns what the same caller has found by the name, if the catalog still has the same sources. */
  find({ text, isTool, view }: RequestedName, gates: readonly ListingGate[]): KnownName | undefined {
    const kept = isTool === true ? this.#names.get(text) : undefined;
    return kept?.gates === gates && kept.principal === view.principal && kept.mode === view.mode ? kept : undefined;
  }

  keep({ text, isTool, view }: RequestedName, known: KnownName, gates: readonly ListingGate[]): void {
    if (isTool !== true) return;
    // Results of an earlier snapshot are removed, so that they do not keep that snapshot in memory.
    if (this.#snapshot !== known.snapshot || this.#names.size >= MAX_NAMES) this.#names.clear();
    this.#snapshot = known.snapshot;
    this.#names.set(text, { ...known, principal: view.principal, mode: view.mode, gates });
  }
}
