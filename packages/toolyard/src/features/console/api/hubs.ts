import type { HubRow } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminRoute } from "./route.ts";

/** Returns the route that lists the hubs of the store. */
export function hubRoutes({ hubs }: Pick<ConsoleParts, "hubs">): readonly AdminRoute[] {
  const list = async (): Promise<{ readonly hubs: readonly HubRow[] }> => ({ hubs: (await hubs?.list.list()) ?? [] });
  return [
    {
      method: "GET",
      path: "hubs",
      needs: "all",
      summary: "The hubs of the store that serve the console, the answering one first. Empty without a store.",
      handle: list,
    },
  ];
}
