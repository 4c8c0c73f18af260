import { HubRelay } from "../../http/relay/hub-relay.ts";
import type { Peers } from "../../state/ports/peers.ts";
import { RelayedPaths } from "../request-relay.ts";
import { RemoteSessions } from "./legacy/remote-sessions.ts";
import { RemoteCalls } from "./modern/remote-calls.ts";
import type { RemoteHubs, RemoteHubsDeps } from "./remote-hubs.ts";

/** Creates the connection to the other hubs of a store. */
export function createRemoteHubs(deps: RemoteHubsDeps, peers: Peers): RemoteHubs {
  const { state, logger } = deps;
  const now = (): number => state.now ?? Date.now();
  const relay = new HubRelay({ hub: state.hub, peers, secret: () => state.secret, now, logger });
  const paths = new RelayedPaths();
  return {
    relay,
    paths,
    requests: {
      forward: (hub, request) => relay.forward(hub, request),
      serve: (path, handler) => paths.add(path, handler),
    },
    sessions: (local) => new RemoteSessions(deps, relay, local),
    calls: (local) => new RemoteCalls(deps, relay, local),
  };
}
