import { Refusal } from "./refusal.ts";

/** Number of refusals on one connection after which it is closed. */
const MAX_OF_CONNECTION = 100;
/** Number of refusals of one address within `WINDOW_MS` after which each further one closes its connection. */
const MAX_OF_ADDRESS = 1000;
const WINDOW_MS = 10_000;
/** Maximum number of addresses that are counted. The oldest is removed. */
const MAX_ADDRESSES = 10_000;

interface AddressCount {
  readonly since: number;
  refusals: number;
}

/**
 * Counts the requests that are refused before their client is authenticated, by connection and by address. Above a
 * limit the refusal closes the connection, so that a client that continues must open a new connection for each request.
 */
export class RefusalCount {
  readonly #byConnection = new WeakMap<object, number>();
  readonly #byAddress = new Map<string, AddressCount>();

  /** Counts a refusal. Returns it, or a copy that closes the connection. */
  add(refusal: Refusal, connection: object | undefined, address: string): Refusal {
    const ofConnection = connection === undefined ? 0 : this.#addTo(connection);
    const ofAddress = this.#addAt(address);
    if (ofConnection <= MAX_OF_CONNECTION && ofAddress <= MAX_OF_ADDRESS) return refusal;
    return new Refusal(refusal.status, refusal.message, { ...refusal.headers, connection: "close" });
  }

  #addTo(connection: object): number {
    const refusals = (this.#byConnection.get(connection) ?? 0) + 1;
    this.#byConnection.set(connection, refusals);
    return refusals;
  }

  #addAt(address: string): number {
    const now = performance.now();
    let count = this.#byAddress.get(address);
    if (!count || now - count.since > WINDOW_MS) {
      this.#byAddress.delete(address);
      if (this.#byAddress.size >= MAX_ADDRESSES) this.#byAddress.delete(this.#byAddress.keys().next().value!);
      this.#byAddress.set(address, (count = { since: now, refusals: 0 }));
    }
    count.refusals += 1;
    return count.refusals;
  }
}
