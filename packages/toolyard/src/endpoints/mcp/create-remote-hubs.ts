import { HubRelay } from "../../http/relay/hub-relay.ts";
import type { Peers } from "../../state/ports/peers.ts";
import { RemoteSessions } from "./legacy/remote-sessions.ts";
import { RemoteCalls } from "./modern/remote-calls.ts";
import type { RemoteHubs, RemoteHubsDeps } from "./remote-hubs.ts";

/** Creates the connection to the other hubs of a store. */
export function createRemoteHubs(deps: RemoteHubsDeps, peers: Peers): RemoteHubs {
  const { state, logger } = deps;
  const now = (): number => state.now ?? Date.now();
  const relay = new HubRelay({ hub: state.hub, peers, secret: () => state.secret, now, logger });
  return {
    relay,
    sessions: (local) => new RemoteSessions(deps, relay, local),
    calls: (local) => new RemoteCalls(deps, relay, local),
  };
}
