import { Emitter } from "../../core/events.ts";
import type { Delivery, PeerFacts, Peers } from "../ports/peers.ts";
import type { RedisConnection } from "./connection.ts";
import type { HubLeases } from "./leases.ts";

export interface PeerParts {
  readonly connection: RedisConnection;
  readonly leases: HubLeases;
  /** Returns the channel of a hub. */
  readonly channelOf: (hub: string) => string;
  /** True if `PUBLISH` returns the number of all listeners. In a cluster, it counts those at one server only. */
  readonly countsListeners: boolean;
}

/** The other hubs of a store in Redis. */
export class RedisPeers implements Peers {
  readonly received = new Emitter<Buffer>();
  readonly interrupted = new Emitter<void>();
  readonly #parts: PeerParts;

  constructor(parts: PeerParts) {
    this.#parts = parts;
  }

  announce(facts: PeerFacts): void {
    this.#parts.leases.announce(facts);
  }

  find(hub: string): PeerFacts | undefined | Promise<PeerFacts | undefined> {
    return this.#parts.leases.find(hub);
  }

  async send(hub: string, message: Buffer): Promise<Delivery> {
    const { connection, channelOf, countsListeners, leases } = this.#parts;
    if (connection.isLost) return "unknown";
    try {
      const listeners = await connection.command("PUBLISH", channelOf(hub), message);
      if (listeners !== 0) return "sent";
      leases.forget(hub);
      return countsListeners ? "absent" : "sent";
    } catch {
      return "unknown";
    }
  }

  onMessage(listener: (message: Buffer) => void): () => void {
    return this.received.on(listener);
  }

  onInterrupted(listener: () => void): () => void {
    return this.interrupted.on(listener);
  }
}
