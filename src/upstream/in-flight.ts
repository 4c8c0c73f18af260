import { CallMap } from "../core/call-map.ts";
import type { Call, Notice } from "../core/call.ts";
import type { RequestId } from "../wire/messages.ts";

/**
 * The calls under way on one connection, and whose a message is that does not say so. A shared connection carries the calls of many
 * callers; what cannot be told apart is given to nobody rather than to the wrong one.
 */
export class InFlight {
  readonly #calls = new CallMap<RequestId, Call>();

  add(id: RequestId, call: Call): void {
    this.#calls.set(id, call);
  }

  remove(id: RequestId): void {
    this.#calls.delete(id);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The call that a server's request belongs to; `several` when there is more than one it could be. */
  owner(related: RequestId | undefined): Call | "several" | undefined {
    const named = related === undefined ? undefined : this.#calls.get(related);
    if (named) return named;
    const calls = this.#calls.values();
    const latest = calls.at(-1);
    if (!latest || calls.length === 1) return latest;
    // Several calls of one lasting connection end at the same person or program.
    const isOneClient = calls.every((call) => call.client.connection !== undefined && call.client.connection === latest.client.connection);
    return isOneClient ? latest : "several";
  }

  /**
   * Hands a notice to whom it belongs: the call it came with, the only call, or, when all belong to one principal, each of its
   * connections once. Returns whether somebody got it; `false` with calls under way means that it could be anybody's.
   */
  tell(notice: Notice, related: RequestId | undefined): boolean {
    const owner = this.owner(related);
    if (owner === undefined) return false;
    if (owner !== "several") {
      owner.notify(notice);
      return true;
    }
    const calls = this.#calls.values();
    if (new Set(calls.map((call) => call.principal.id)).size > 1) return false;
    const perConnection = new Map(calls.map((call) => [call.client.connection ?? call.id, call]));
    for (const call of perConnection.values()) call.notify(notice);
    return true;
  }
}
