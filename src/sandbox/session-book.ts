import type { SandboxJob, SandboxOutcome } from "./engine.ts";

/** Keys that are remembered; one that was forgotten begins as `new` rather than as `lost`. */
const MAX_KEYS = 1000;

/** Remembers which sessions there were, so that a run learns that the variables it may count on are gone. */
export class SessionBook {
  readonly #keys = new Set<string>();

  /** The outcome, with `new` told apart from `lost`. */
  noted(job: SandboxJob, outcome: SandboxOutcome): SandboxOutcome {
    if (job.session === undefined || outcome.session === undefined) return outcome;
    const key = `${job.language === "python" ? "python" : "javascript"}:${job.session}`;
    const wasThere = this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size > MAX_KEYS) this.#keys.delete(this.#keys.values().next().value!);
    return outcome.session === "new" && wasThere ? { ...outcome, session: "lost" } : outcome;
  }
}
