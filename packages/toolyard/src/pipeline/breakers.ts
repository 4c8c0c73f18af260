import type { BreakerOptions } from "./options.ts";
import { firstChars } from "../core/text/truncate.ts";

interface Circuit {
  failures: number;
  /** Time of the last counted failure. */
  failedAt: number;
  /** Time until which the circuit is open. 0 while it is closed. */
  openUntil: number;
  /** Start time of the call that tries the server again. */
  probeAt: number | undefined;
  lastMessage: string;
}

export interface BlockedCircuit {
  readonly retryAfterMs: number;
  readonly failures: number;
  readonly lastMessage: string;
}

/** Milliseconds after which a refused call may be repeated while another call tries the server. */
const PROBE_WAIT_MS = 1000;
const MAX_MESSAGE_CHARS = 300;

/**
 * Circuit breakers, one for each server. A circuit opens after a number of consecutive failures and stays open for the
 * cool-down. Then it admits one call, whose outcome closes it or opens it again. Concurrent calls that fail together
 * count as one failure: if a child process exits with twenty calls, the next call must be served. Circuits are stored
 * by provider object: a source that is recreated after a configuration change starts with a closed circuit, and a
 * source with a provider per user has a circuit per user.
 */
export class Breakers {
  readonly #circuits = new WeakMap<object, Circuit>();
  readonly #options: BreakerOptions;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /**
   * Requests permission for a call that starts at `now`. Returns `undefined` if the call may run; its outcome must then
   * be reported with the same `now`.
   */
  enter(server: object, now: number): BlockedCircuit | undefined {
    const circuit = this.#circuits.get(server);
    if (!circuit || circuit.openUntil === 0) return undefined;
    const { failures, lastMessage } = circuit;
    if (now < circuit.openUntil) return { retryAfterMs: Math.ceil(circuit.openUntil - now), failures, lastMessage };
    if (circuit.probeAt !== undefined) return { retryAfterMs: PROBE_WAIT_MS, failures, lastMessage };
    circuit.probeAt = now;
    return undefined;
  }

  /** Reports that the server answered, with a result or an error. */
  succeeded(server: object): void {
    this.#circuits.delete(server);
  }

  failed(server: object, startedAt: number, message: string): void {
    const now = performance.now();
    let circuit = this.#circuits.get(server);
    if (!circuit)
      this.#circuits.set(
        server,
        (circuit = { failures: 0, failedAt: -1, openUntil: 0, probeAt: undefined, lastMessage: "" }),
      );
    const isProbe = circuit.probeAt === startedAt;
    if (!isProbe && startedAt <= circuit.failedAt) return;
    circuit.failures += 1;
    circuit.failedAt = now;
    circuit.lastMessage = firstChars(message, MAX_MESSAGE_CHARS);
    if (isProbe) circuit.probeAt = undefined;
    if (isProbe || circuit.failures >= this.#options.failures) circuit.openUntil = now + this.#options.coolDownMs;
  }

  /** Reports that the call ended without information about the server, for example because its caller cancelled it. */
  abandoned(server: object, startedAt: number): void {
    const circuit = this.#circuits.get(server);
    if (circuit?.probeAt === startedAt) circuit.probeAt = undefined;
  }
}
