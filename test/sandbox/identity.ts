import { EVERYTHING, type Rights } from "../../packages/toolyard/src/core/ports/rights.ts";
import { toolyardOf, type Toolyard } from "../../packages/toolyard/src/kernel/toolyard.ts";

/** Returns the hub as another caller uses it. */
export function createIdentity(hub: Toolyard, id: string, rights: Rights = EVERYTHING): Toolyard {
  const base = { port: hub.port, tools: { search: hub.search.bind(hub) as never }, close: async () => {} };
  return toolyardOf(base, { endpoint: "library", principal: { id, rights } });
}
