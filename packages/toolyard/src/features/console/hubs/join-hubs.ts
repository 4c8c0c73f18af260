import type { Late } from "../../../core/late.ts";
import type { RequestRelay } from "../../../endpoints/request-relay.ts";
import type { HubState } from "../../../state/ports/store.ts";
import type { ConsoleEndpoint } from "../console-endpoint.ts";
import type { OtherHubs } from "../parts.ts";
import { ADMIN_PATH, CONSOLE_PATH } from "../paths.ts";
import { ConsoleHubs } from "./console-hubs.ts";

/**
 * Lists this hub for the consoles of the other hubs, and answers the requests that they pass on. Returns `undefined` if
 * the store has no hubs of other processes.
 */
export function joinHubs(
  relay: RequestRelay,
  { queues, peers }: Pick<HubState, "queues" | "peers">,
  endpoint: Late<ConsoleEndpoint>,
): OtherHubs | undefined {
  if (!queues || !peers) return undefined;
  for (const path of [ADMIN_PATH, CONSOLE_PATH])
    relay.serve(path, async (exchange) => (await endpoint.get()).serveRelayed(exchange));
  const list = new ConsoleHubs(queues, peers);
  list.join();
  return { list, relay };
}
