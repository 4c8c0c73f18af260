import { Shares, type Holder } from "../core/fairness/shares.ts";
import type { SandboxJob, SandboxOutcome } from "./engine.ts";
import { ownerOf } from "./owner.ts";

/** Maximum number of remembered keys. A forgotten session starts as `new` instead of `lost`. */
const MAX_KEYS = 1000;

/**
 * Remembers which sessions existed, so that the outcome of a run can report that the variables of a session are lost.
 */
export class SessionBook {
  /** Keys in the order of use, the least recently used first. */
  readonly #keys = new Map<string, Holder>();
  readonly #shares = new Shares();

  /** Returns the outcome with the session state `lost` instead of `new` if the session existed before. */
  noted(job: SandboxJob, outcome: SandboxOutcome): SandboxOutcome {
    if (job.session === undefined || outcome.session === undefined) return outcome;
    const key = `${job.language === "python" ? "python" : "javascript"}:${job.session}`;
    const wasThere = this.#forget(key);
    const owner = ownerOf(job);
    if (this.#keys.size >= MAX_KEYS) this.#makeRoomFor(owner);
    this.#keys.set(key, owner);
    this.#shares.add(owner);
    return outcome.session === "new" && wasThere ? { ...outcome, session: "lost" } : outcome;
  }

  #forget(key: string): boolean {
    const owner = this.#keys.get(key);
    if (owner) this.#shares.remove(owner);
    return this.#keys.delete(key);
  }

  #makeRoomFor(newcomer: Holder): void {
    const oldest = this.#shares.debtorTo(newcomer, this.#keys, { holder: ([, owner]) => owner, isIdle: true });
    this.#forget(oldest?.[0] ?? this.#keys.keys().next().value!);
  }
}
