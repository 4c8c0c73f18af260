import { createHash } from "node:crypto";

interface PolledCode {
  polledAt: number;
  intervalMs: number;
}

/** Minimum time between two requests for the tokens of one device code (RFC 8628 section 3.5). */
const INTERVAL_MS = 5000;
/** Time that is added to the interval of a device that sends its requests too soon. */
const LONGER_MS = 5000;
const MAX_INTERVAL_MS = 60_000;
/** Tolerance, because the time between two requests varies in the network. */
const TOLERANCE_MS = 1000;
/** Maximum number of codes; the oldest is removed. */
const MAX_CODES = 10_000;

/** Times at which devices requested the tokens of their pending codes. */
export class DevicePolls {
  readonly #codes = new Map<string, PolledCode>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Records a request for a pending code. Returns true if the request came too soon. In that case, the interval is
   * extended.
   */
  isTooSoon(deviceCode: string): boolean {
    const now = this.#now();
    const key = createHash("sha256").update(deviceCode).digest("base64url");
    const known = this.#codes.get(key);
    this.#codes.delete(key);
    if (this.#codes.size >= MAX_CODES) this.#codes.delete(this.#codes.keys().next().value!);
    const isTooSoon = known !== undefined && now - known.polledAt < known.intervalMs - TOLERANCE_MS;
    const before = known?.intervalMs ?? INTERVAL_MS;
    const intervalMs = isTooSoon ? Math.min(before + LONGER_MS, MAX_INTERVAL_MS) : before;
    this.#codes.set(key, { polledAt: now, intervalMs });
    return isTooSoon;
  }
}
