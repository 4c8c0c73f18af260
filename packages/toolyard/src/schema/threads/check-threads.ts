import { formatDuration } from "../../core/text/duration.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import {
  CHECK_TIMEOUT_MS,
  COMPILE_TIMEOUT_MS,
  FEW_ITEMS,
  MAX_QUICK_THREADS,
  MAX_SLOW_THREADS,
  MAX_VERDICTS,
  MAX_WAITING,
  QUICK_MS,
  THREAD_HEAP_MB,
} from "./bounds.ts";
import type { CheckJob, CheckedMessage, Overrun } from "./check-thread.ts";
import { Lane } from "./lane.ts";
import type { ThreadCheckResult, Verdict } from "./messages.ts";

/**
 * Result of a job: the validation, or the reason why there is none: the schema is unusable, or this value is too large
 * for its schema.
 */
export type JobResult =
  | Exclude<ThreadCheckResult, { ok: "too large" }>
  | { readonly ok: "unusable" }
  | { readonly ok: "too much"; readonly reason: string };

/**
 * Validates values in threads, and remembers the verdict of each schema. A schema that is too slow is never used again.
 * If only a large value is too slow, only this value is refused. Jobs known to be fast do not wait for the others.
 */
export class CheckThreads {
  readonly #verdicts = new Map<string, Verdict>();
  readonly #quick = new Lane(MAX_QUICK_THREADS);
  readonly #slow = new Lane(MAX_SLOW_THREADS);
  #isClosed = false;

  verdictOn(key: string): Verdict | undefined {
    return this.#verdicts.get(key);
  }

  /**
   * Runs a job. Rejects with a `FailError` if too many jobs wait, or the hub closes. `isGone` returns true if no caller
   * waits for the result any more.
   */
  async run(job: CheckJob, isGone: () => boolean): Promise<JobResult> {
    const known = this.#verdicts.get(job.key);
    const lane = known?.usable && !known.isSlow ? this.#quick : this.#slow;
    if (this.#isClosed) throw new FailError(fail("unavailable", CLOSED));
    if (lane.waiting >= MAX_WAITING) throw new FailError(fail("limited", CROWDED, { retryAfterMs: CHECK_TIMEOUT_MS }));
    const result = await lane.run({
      ...job,
      isWanted: () => !isGone() && !this.#isClosed && !this.#isUnusable(job.key),
      onVerdict: (verdict) => this.#keep(job.key, verdict),
    });
    if (this.#isClosed) throw new FailError(fail("unavailable", CLOSED));
    // A dropped job is also reported as unusable, because no caller reads its result.
    if (result.type === "dropped" || this.#isUnusable(job.key)) return UNUSABLE;
    return result.type === "overrun" ? this.#judgeOverrun(job, result) : this.#judge(job, result);
  }

  close(): void {
    this.#isClosed = true;
    this.#quick.close();
    this.#slow.close();
  }

  #isUnusable(key: string): boolean {
    return this.#verdicts.get(key)?.usable === false;
  }

  #keep(key: string, verdict: Verdict): void {
    this.#verdicts.delete(key);
    this.#verdicts.set(key, verdict);
    const [oldest] = this.#verdicts.keys();
    if (this.#verdicts.size > MAX_VERDICTS && oldest !== undefined) this.#verdicts.delete(oldest);
  }

  #giveUp(key: string, reason: string): JobResult {
    this.#keep(key, { usable: false, reason });
    return UNUSABLE;
  }

  #judge({ key, items }: CheckJob, { checked, tookMs }: CheckedMessage): JobResult {
    const verdict = this.#verdicts.get(key);
    if (tookMs > QUICK_MS && verdict?.usable && !verdict.isSlow) this.#keep(key, { ...verdict, isSlow: true });
    if (checked.ok !== "too large") return checked;
    if (items <= FEW_ITEMS) return this.#giveUp(key, "its defaults are too large to be filled in");
    return { ok: "too much", reason: "with its defaults it is too large" };
  }

  #judgeOverrun({ key, items }: CheckJob, { at, of }: Overrun): JobResult {
    if (at === "start") throw new FailError(fail("unavailable", NOT_STARTED));
    const limitMs = at === "compile" ? COMPILE_TIMEOUT_MS : CHECK_TIMEOUT_MS;
    const limit = of === "time" ? formatDuration(limitMs) : `${THREAD_HEAP_MB} MiB of memory`;
    if (at === "compile") return this.#giveUp(key, `compiling it takes more than ${limit}`);
    if (items <= FEW_ITEMS) return this.#giveUp(key, `checking a small value takes more than ${limit}`);
    return { ok: "too much", reason: `checking it takes more than ${limit}` };
  }
}

const UNUSABLE: JobResult = Object.freeze({ ok: "unusable" });
const CLOSED = "The hub is shutting down. Try again once it is back.";
const CROWDED = "Too many calls wait for their arguments to be checked. Try again later.";
const NOT_STARTED =
  "The arguments could not be checked, since no thread could be started for it: the machine is out of memory " +
  "or processes. Try again later.";
