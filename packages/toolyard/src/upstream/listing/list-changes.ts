import type { ChangedList } from "../connection/connection.ts";

/** Delay before the lists are read after an announced change, so that changes announced together are read once. */
const DEBOUNCE_MS = 50;
/** First pause between two readings if the server announces a change during or soon after each. Doubles every time. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 60_000;
/**
 * Minimum time without an announcement after which the next change is read without a pause. If twice the last pause is
 * longer, that time applies.
 */
const MIN_CALM_MS = 1000;
/** Maximum number of consecutive pauses that a caller waiting for a list may shorten. */
const MAX_SHORT_PAUSES = 1;
/** Number of consecutive pauses from which the server counts as announcing changes without end. */
const RESTLESS_PAUSES = 5;

/** One reading of the lists, and the announcements that it covers. */
export interface ListReading {
  readonly announced: ReadonlySet<ChangedList>;
  readonly since: number | undefined;
}

/**
 * Changes that a server announced with `list_changed` and that have not been read. Decides when the next reading may
 * start: a server that announces a change whenever its lists are read would otherwise be read endlessly. Times are on
 * the clock of `performance.now()`.
 */
export class ListChanges {
  #announced = new Set<ChangedList>();
  #since: number | undefined;
  #isReading = false;
  #readAt = -Infinity;
  #pauses = 0;

  /** Time of the first announced change that has not been read. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Returns whether a caller may request a reading without waiting for the pause. */
  get mayHurry(): boolean {
    return this.#pauses <= MAX_SHORT_PAUSES;
  }

  /** Returns true if the server announces changes without end. */
  get isRestless(): boolean {
    return this.#pauses >= RESTLESS_PAUSES;
  }

  /** Records an announcement. `"all"` means one that the hub infers, for example after a lost stream. */
  announce(list: ChangedList | "all", now = performance.now()): void {
    if (list !== "all") this.#announced.add(list);
    if (this.#since !== undefined) return;
    this.#since = now;
    this.#pauses = this.#isReading || now < this.#readAt + this.#calmMs ? this.#pauses + 1 : 0;
  }

  /** Starts a reading that covers everything announced so far. */
  begin(): ListReading {
    const reading: ListReading = { announced: this.#announced, since: this.#since };
    this.#announced = new Set();
    this.#since = undefined;
    this.#isReading = true;
    return reading;
  }

  /** Ends a reading. If the reading failed, the changes that it should have covered remain to be read. */
  end({ announced, since }: ListReading, isRead: boolean, now = performance.now()): void {
    this.#isReading = false;
    this.#readAt = now;
    if (isRead) return;
    for (const list of announced) this.#announced.add(list);
    this.#since = since ?? this.#since;
  }

  /** Returns the milliseconds until the lists must be read; `undefined` if no announced change is left. */
  dueInMs(now = performance.now()): number | undefined {
    if (this.#since === undefined) return undefined;
    return Math.max(0, this.#since + DEBOUNCE_MS - now, this.#readAt + this.#pauseMs - now);
  }

  /**
   * Returns the milliseconds until the server counts as calm if it announces nothing more; `undefined` if it is already
   * calm.
   */
  calmInMs(now = performance.now()): number | undefined {
    if (this.#pauses === 0 || this.#since !== undefined) return undefined;
    const leftMs = this.#readAt + this.#calmMs - now;
    if (leftMs > 0) return leftMs;
    this.#pauses = 0;
    return undefined;
  }

  get #pauseMs(): number {
    return this.#pauses === 0 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#pauses - 1));
  }

  get #calmMs(): number {
    return Math.max(MIN_CALM_MS, 2 * this.#pauseMs);
  }
}
