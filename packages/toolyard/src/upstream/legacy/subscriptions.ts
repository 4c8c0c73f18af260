import { Deadline } from "../../core/calls/deadline.ts";
import type { Exchange } from "../connection/exchange.ts";
import type { Watcher } from "../links/watcher.ts";

/** Maximum time for a server to add a subscription. */
const SUBSCRIBE_MS = 10_000;

/** Sends `resources/subscribe` and `resources/unsubscribe`. List changes need no subscription. */
export class LegacySubscriptions implements Watcher {
  readonly #exchange: Exchange;
  #watched = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  watch(uris: ReadonlySet<string>): Promise<void> {
    const wanted = new Set(uris);
    const done = this.#turn.then(() => this.#change(wanted));
    this.#turn = done.catch(() => {});
    return done;
  }

  accepts(): boolean {
    return true;
  }

  takes(): boolean {
    return false;
  }

  close(): void {}

  async #change(wanted: ReadonlySet<string>): Promise<void> {
    const added = [...wanted].filter((uri) => !this.#watched.has(uri));
    const removed = [...this.#watched].filter((uri) => !wanted.has(uri));
    for (const uri of removed) this.#watched.delete(uri);
    // Errors are ignored, because a late or failed unsubscription does no harm.
    const gone = removed.map((uri) => this.#request("resources/unsubscribe", uri).catch(() => {}));
    const results = await Promise.allSettled(
      added.map((uri) => this.#request("resources/subscribe", uri).then(() => this.#watched.add(uri))),
    );
    await Promise.all(gone);
    const refused = results.find((result) => result.status === "rejected");
    if (refused) throw refused.reason;
  }

  async #request(method: string, uri: string): Promise<void> {
    const deadline = new Deadline({ idleMs: SUBSCRIBE_MS, totalMs: SUBSCRIBE_MS });
    try {
      await this.#exchange.request(method, { uri }, { signal: deadline.signal });
    } finally {
      deadline.clear();
    }
  }
}
