import type { Delivery, PeerFacts, Peers } from "../ports/peers.ts";
import { isAlive, type HubMember } from "./membership.ts";

interface PeerEntry {
  readonly member: HubMember;
  facts: PeerFacts;
  readonly listeners: Set<(message: Buffer) => void>;
}

/** Hubs of one process that pass requests to each other, by id. */
export class PeerTable {
  readonly byHub = new Map<string, PeerEntry>();
}

/** Peers of one hub in the memory of this process. */
export class MemoryPeers implements Peers {
  readonly #table: PeerTable;
  readonly #own: PeerEntry;

  constructor(table: PeerTable, member: HubMember) {
    this.#table = table;
    this.#own = { member, facts: {}, listeners: new Set() };
    table.byHub.set(member.hub, this.#own);
  }

  announce(facts: PeerFacts): void {
    this.#own.facts = { ...this.#own.facts, ...facts };
  }

  find(hub: string): PeerFacts | undefined {
    return this.#living(hub)?.facts;
  }

  async send(hub: string, message: Buffer): Promise<Delivery> {
    const peer = this.#living(hub);
    if (!peer || peer.listeners.size === 0) return "absent";
    // The receiver runs in a later turn of the event loop than the sender, as with a store in another process.
    setImmediate(() => {
      for (const listener of peer.listeners) listener(message);
    });
    return "sent";
  }

  onMessage(listener: (message: Buffer) => void): () => void {
    this.#own.listeners.add(listener);
    return () => void this.#own.listeners.delete(listener);
  }

  /** Does nothing, because no message is ever lost in memory. */
  onInterrupted(): () => void {
    return () => {};
  }

  #living(hub: string): PeerEntry | undefined {
    const peer = this.#table.byHub.get(hub);
    return peer && isAlive(peer.member, performance.now()) ? peer : undefined;
  }
}
