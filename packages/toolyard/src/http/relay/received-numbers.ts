/** Number of the newest requests of one sender that are distinguished. An older request is refused. */
const WINDOW = 65_536;
const WORD_BITS = 32;
/** Maximum number of senders. Each needs 8 KiB. */
const MAX_SENDERS = 4096;

interface SenderWindow {
  highest: number;
  /** One bit for each of the last `WINDOW` numbers, at the number modulo `WINDOW`. */
  readonly bits: Uint32Array;
  usedAt: number;
}

/**
 * Numbers of received requests, by sender, so that each request is accepted once. Senders count their requests, which
 * may arrive in another order. The memory does not grow with the number of requests (as in RFC 4303 section 3.4.3).
 */
export class ReceivedNumbers {
  readonly #windows = new Map<string, SenderWindow>();
  readonly #keepMs: number;

  /** `keepMs`: milliseconds after its last request for which a sender is remembered. */
  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** Adds a number, from 1 on. Returns false if it was added before or is too old. */
  add(sender: string, number: number): boolean {
    if (!Number.isSafeInteger(number) || number < 1) return false;
    const window = this.#windows.get(sender) ?? this.#open(sender);
    if (!window || number <= window.highest - WINDOW) return false;
    window.usedAt = performance.now();
    if (number > window.highest) advance(window, number);
    const [word, bit] = placeOf(number);
    if ((window.bits[word]! & bit) !== 0) return false;
    window.bits[word]! |= bit;
    return true;
  }

  #open(sender: string): SenderWindow | undefined {
    const now = performance.now();
    if (this.#windows.size >= MAX_SENDERS)
      for (const [name, { usedAt }] of this.#windows) if (now - usedAt > this.#keepMs) this.#windows.delete(name);
    if (this.#windows.size >= MAX_SENDERS) return undefined;
    const window = { highest: 0, bits: new Uint32Array(WINDOW / WORD_BITS), usedAt: now };
    this.#windows.set(sender, window);
    return window;
  }
}

/** Moves a window to a higher number, and clears the bits of the numbers that it now contains. */
function advance(window: SenderWindow, number: number): void {
  if (number - window.highest >= WINDOW) window.bits.fill(0);
  else
    for (let at = window.highest + 1; at <= number; at += 1) {
      const [word, bit] = placeOf(at);
      window.bits[word]! &= ~bit;
    }
  window.highest = number;
}

function placeOf(number: number): readonly [word: number, bit: number] {
  const place = number % WINDOW;
  return [Math.floor(place / WORD_BITS), 1 << (place % WORD_BITS)];
}
