export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** Maximum number of bytes of unfinished requests, for all clients together. */
  readonly maxArrivingBytes: number;
}

/** Called when the bytes of an unfinished request must be released. */
export type ReleaseBytes = () => void;

/** Milliseconds of the window in which the rate of a sender is measured. */
const WINDOW_MS = 1000;

/**
 * Limits the memory of unfinished requests. A holder is a principal, or the address of a client without a token.
 *
 * - One holder has at most half of the total, so that one token cannot fill it.
 * - If the total is exceeded, the slowest body of the holder with the most bytes is released. So a holder within its
 * share loses nothing.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #maxHolderBytes: number;
  readonly #open = new Set<ArrivingBytes>();
  readonly #byHolder = new Map<string, number>();
  #total = 0;

  constructor({ maxBodyBytes, maxArrivingBytes }: BodyLimits) {
    // Half of the total, which is the limit of one holder, must have room for one body of the maximum size.
    this.#maxBytes = Math.max(maxArrivingBytes, 2 * maxBodyBytes);
    this.#maxHolderBytes = this.#maxBytes / 2;
  }

  /** Number of bytes that are held. */
  get heldBytes(): number {
    return this.#total;
  }

  /** Starts to count the bytes of one unfinished request. The caller must call `close`. */
  open(holder: string, release: ReleaseBytes): ArrivingBytes {
    const arriving = new ArrivingBytes(this, holder, release);
    this.#open.add(arriving);
    return arriving;
  }

  /** Called by `ArrivingBytes` after its size has changed by `difference`. */
  changed({ holder }: ArrivingBytes, difference: number): void {
    this.#total += difference;
    const held = (this.#byHolder.get(holder) ?? 0) + difference;
    if (held === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, held);
    if (difference <= 0) return;
    while ((this.#byHolder.get(holder) ?? 0) > this.#maxHolderBytes) this.#releaseSlowest(holder);
    while (this.#total > this.#maxBytes) this.#releaseSlowest(this.#largestHolder());
  }

  /** Called by `ArrivingBytes` when it is closed. */
  closed(arriving: ArrivingBytes): void {
    this.#open.delete(arriving);
  }

  #largestHolder(): string {
    let [largest, most] = ["", -1];
    for (const [holder, held] of this.#byHolder) if (held > most) [largest, most] = [holder, held];
    return largest;
  }

  #releaseSlowest(holder: string): void {
    const now = performance.now();
    let slowest: ArrivingBytes | undefined;
    for (const arriving of this.#open)
      if (arriving.holder === holder && arriving.size > 0 && (!slowest || arriving.goesBefore(slowest, now)))
        slowest = arriving;
    slowest?.release();
  }
}

/** Bytes of one unfinished request, counted by `BodyBudget`. */
export class ArrivingBytes {
  readonly holder: string;
  readonly #budget: BodyBudget;
  readonly #release: ReleaseBytes;
  #size = 0;
  #isClosed = false;
  /** Start of the current window, and the bytes that arrived in it and in the previous window. */
  #windowAt = performance.now();
  #current = 0;
  #previous = 0;
  #isYoung = true;

  constructor(budget: BodyBudget, holder: string, release: ReleaseBytes) {
    this.#budget = budget;
    this.holder = holder;
    this.#release = release;
  }

  get size(): number {
    return this.#size;
  }

  /** Sets the number of held bytes. The budget may release this or other requests before the method returns. */
  resize(size: number): void {
    if (this.#isClosed) return;
    const difference = size - this.#size;
    this.#size = size;
    this.#advance(performance.now());
    if (difference > 0) this.#current += difference;
    this.#budget.changed(this, difference);
  }

  /** Ends the count, because the request is complete or its bytes were released. */
  close(): void {
    if (this.#isClosed) return;
    this.resize(0);
    this.#isClosed = true;
    this.#budget.closed(this);
  }

  /** Called by the budget. Closes this object and releases its bytes. */
  release(): void {
    this.close();
    this.#release();
  }

  /**
   * Returns true if this request is released before the other one: the slower one first; if both are new, the larger
   * one.
   */
  goesBefore(other: ArrivingBytes, now: number): boolean {
    const [own, theirs] = [this.#paceAt(now), other.#paceAt(now)];
    if (this.#isYoung !== other.#isYoung) return other.#isYoung;
    if (this.#isYoung || own === theirs) return this.#size > other.#size;
    return own < theirs;
  }

  #paceAt(now: number): number {
    this.#advance(now);
    return this.#previous + this.#current;
  }

  #advance(now: number): void {
    const windows = Math.floor((now - this.#windowAt) / WINDOW_MS);
    if (windows <= 0) return;
    this.#isYoung = false;
    this.#previous = windows === 1 ? this.#current : 0;
    this.#current = 0;
    this.#windowAt += windows * WINDOW_MS;
  }
}
