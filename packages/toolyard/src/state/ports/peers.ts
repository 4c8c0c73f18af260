/** Facts that a hub announces to the other hubs of its store. */
export interface PeerFacts {
  /** Base URL at which other hubs reach this hub, without a trailing slash. Absent: they only reach it by the store. */
  readonly url?: string;
  /** Digest of the configuration. Hubs with different digests are reported. */
  readonly configuration?: string;
}

/**
 * Result of sending a message through the store. `absent`: the hub does not listen to the store, so it did not get the
 * message. `unknown`: the store was lost. A store that cannot report listeners returns `sent`.
 */
export type Delivery = "sent" | "absent" | "unknown";

/** The other hubs of a store: their addresses, and messages to a single hub. */
export interface Peers {
  /** Publishes facts of this hub. They are kept as long as its lease. */
  announce(facts: PeerFacts): void;
  /**
   * Returns the facts of a hub, or `undefined` if its lease has expired. The result is cached for a part of the lease.
   * Rejects with a `StoreLostError`.
   */
  find(hub: string): PeerFacts | undefined | Promise<PeerFacts | undefined>;
  /** Sends a message to one hub. Messages to one hub arrive in order, or not at all. */
  send(hub: string, message: Buffer): Promise<Delivery>;
  /** Adds a listener for messages to this hub. The returned function removes it. */
  onMessage(listener: (message: Buffer) => void): () => void;
  /**
   * Adds a listener that is called when a connection to the store is back. Messages to and from this hub may have been
   * lost. The returned function removes it.
   */
  onInterrupted(listener: () => void): () => void;
}
