import type { HubContent } from "../../core/ports/hub-port.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { ProviderState } from "../../core/sources/provider.ts";
import type { HubState } from "../../state/ports/store.ts";
import type { ReadinessOptions } from "./options.ts";

/**
 * Readiness of the hub. `starting`: a source has not finished its first start. `unavailable`: a required source does
 * not work. The listener reports a further state, `stopping`.
 */
export type ReadinessState = "ready" | "starting" | "unavailable";

export interface ReadinessParts extends ReadinessOptions {
  readonly hub: Pick<HubContent, "sources">;
  readonly logger: Pick<Logger, "info" | "warning">;
  readonly startedAt: Date;
  /** Store of the hub. @default one that cannot be lost */
  readonly state?: Pick<HubState, "isLost" | "refusesOnLoss">;
  /** Returns the current time in milliseconds. @default the clock */
  readonly now?: () => number;
}

/** States in which a source answers calls. */
const WORKING: ReadonlySet<ProviderState> = new Set<ProviderState>(["ready", "degraded"]);

/**
 * Decides if a load balancer should send requests to this hub. A source that fails or restarts after the start does not
 * change the result unless it is required: the hub still serves the other sources.
 */
export class Readiness {
  readonly #parts: ReadinessParts;
  #hasStarted = false;
  /** State that was logged last. */
  #logged: ReadinessState | undefined;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** True while the shared store cannot be reached. */
  get isStoreLost(): boolean {
    return this.#parts.state?.isLost === true;
  }

  state(): ReadinessState {
    const state = this.#sourceState();
    // A hub that continues with its own limits stays ready: otherwise a load balancer would find no hub while the store
    // is lost.
    return this.isStoreLost && this.#parts.state?.refusesOnLoss === true && state === "ready" ? "unavailable" : state;
  }

  #sourceState(): ReadinessState {
    const { requiredSources } = this.#parts;
    // After the start, the sources are only read if some are required, because probes are frequent and anyone may send
    // them.
    if (this.#hasStarted && requiredSources.length === 0) return this.#log("ready", []);
    const states = new Map(this.#parts.hub.sources().map(({ source, status }) => [source.id, status.state]));
    const starting = [...states].filter(([, state]) => state === "starting").map(([id]) => id);
    this.#hasStarted ||= starting.length === 0 || this.#isOverdue();
    if (!this.#hasStarted) return this.#log("starting", starting);
    const failing = requiredSources.filter((id) => !WORKING.has(states.get(id) ?? "down"));
    return this.#log(failing.length === 0 ? "ready" : "unavailable", failing);
  }

  #isOverdue(): boolean {
    const { startedAt, withinMs, now = Date.now } = this.#parts;
    return now() - startedAt.getTime() >= withinMs;
  }

  /** Logs each change of the state with the sources, since the response names no source. */
  #log(state: ReadinessState, sources: readonly string[]): ReadinessState {
    if (state === this.#logged) return state;
    const { logger } = this.#parts;
    if (state === "unavailable") logger.warning("The hub is not ready: required sources do not work.", { sources });
    else if (this.#logged === "unavailable") logger.info("The hub is ready: all required sources work.");
    this.#logged = state;
    return state;
  }
}
