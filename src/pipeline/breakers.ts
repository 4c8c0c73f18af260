import type { BreakerOptions } from "./options.ts";

interface Circuit {
  failures: number;
  /** When the last counted failure was seen. */
  failedAt: number;
  /** 0 while closed. */
  openUntil: number;
  /** When the call began that tries the server again. */
  probeAt: number | undefined;
  lastMessage: string;
}

export interface BlockedCircuit {
  readonly retryAfterMs: number;
  readonly failures: number;
  readonly lastMessage: string;
}

/** When another look is worth it while one call tries the server. */
const PROBE_WAIT_MS = 1000;
const MAX_MESSAGE_CHARS = 300;

/**
 * One circuit for each server. It opens after so many failures in a row, stays open for the cool-down, then lets one call try; that
 * call's outcome closes it or opens it anew. Calls that were in flight together and fail together are one failure: when a child dies
 * with twenty calls, the very next call must be served.
 */
export class Breakers {
  readonly #circuits = new Map<string, Circuit>();
  readonly #options: BreakerOptions;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Asks for a call that begins at `now`. Absent: go ahead, and tell how it went with the same `now`. */
  enter(key: string, now: number): BlockedCircuit | undefined {
    const circuit = this.#circuits.get(key);
    if (!circuit || circuit.openUntil === 0) return undefined;
    const { failures, lastMessage } = circuit;
    if (now < circuit.openUntil) return { retryAfterMs: Math.ceil(circuit.openUntil - now), failures, lastMessage };
    if (circuit.probeAt !== undefined) return { retryAfterMs: PROBE_WAIT_MS, failures, lastMessage };
    circuit.probeAt = now;
    return undefined;
  }

  /** The server answered, whatever it said. */
  succeeded(key: string): void {
    this.#circuits.delete(key);
  }

  failed(key: string, startedAt: number, message: string): void {
    const now = performance.now();
    let circuit = this.#circuits.get(key);
    if (!circuit) this.#circuits.set(key, (circuit = { failures: 0, failedAt: -1, openUntil: 0, probeAt: undefined, lastMessage: "" }));
    const isProbe = circuit.probeAt === startedAt;
    if (!isProbe && startedAt <= circuit.failedAt) return;
    circuit.failures += 1;
    circuit.failedAt = now;
    circuit.lastMessage = message.slice(0, MAX_MESSAGE_CHARS);
    if (isProbe) circuit.probeAt = undefined;
    if (isProbe || circuit.failures >= this.#options.failures) circuit.openUntil = now + this.#options.coolDownMs;
  }

  /** The call ended without telling anything of the server, such as by its caller. */
  abandoned(key: string, startedAt: number): void {
    const circuit = this.#circuits.get(key);
    if (circuit?.probeAt === startedAt) circuit.probeAt = undefined;
  }

  /** Forgets what was: the source was restarted, reconfigured or removed. */
  reset(key: string): void {
    this.#circuits.delete(key);
  }

  /** Milliseconds until the server is tried again; absent while calls go through. */
  openFor(key: string): number | undefined {
    const openUntil = this.#circuits.get(key)?.openUntil ?? 0;
    return openUntil > performance.now() ? openUntil - performance.now() : undefined;
  }
}
