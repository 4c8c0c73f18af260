import { createHash } from "node:crypto";
import type { AuthPolls, PollRule } from "../../state/ports/auth-state.ts";

interface PolledCode {
  polledAt: number;
  intervalMs: number;
}

/** Maximum number of codes; the oldest is removed. */
const MAX_CODES = 10_000;

/** Requests of devices for the tokens of their pending codes, in memory. */
export class DevicePolls implements AuthPolls {
  readonly #codes = new Map<string, PolledCode>();
  readonly #rule: PollRule;
  readonly #now: () => number;

  constructor(rule: PollRule, now: () => number) {
    this.#rule = rule;
    this.#now = now;
  }

  isTooSoon(deviceCode: string): boolean {
    const now = this.#now();
    const { intervalMs: least, longerMs, maxMs, toleranceMs } = this.#rule;
    const key = createHash("sha256").update(deviceCode).digest("base64url");
    const known = this.#codes.get(key);
    this.#codes.delete(key);
    if (this.#codes.size >= MAX_CODES) this.#codes.delete(this.#codes.keys().next().value!);
    const isTooSoon = known !== undefined && now - known.polledAt < known.intervalMs - toleranceMs;
    const before = known?.intervalMs ?? least;
    const intervalMs = isTooSoon ? Math.min(before + longerMs, maxMs) : before;
    this.#codes.set(key, { polledAt: now, intervalMs });
    return isTooSoon;
  }
}
