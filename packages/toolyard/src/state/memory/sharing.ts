import { MemoryEventLog } from "./event-log.ts";
import type { MemorySharing } from "./memory-store.ts";
import { MemoryPeers, PeerTable } from "./peers.ts";
import { SharedEventLog } from "./shared-event-log.ts";

/** Creates the parts of a memory store with hubs that pass requests to each other. */
export function createSharing(): MemorySharing {
  const peers = new PeerTable();
  let events: MemoryEventLog | undefined;
  return {
    peersFor: (member) => new MemoryPeers(peers, member),
    openEventLog: (limits) => new SharedEventLog((events ??= new MemoryEventLog(limits))),
  };
}
