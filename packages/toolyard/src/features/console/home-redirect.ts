import type { Access } from "../../core/access.ts";
import { NO_CREDENTIALS } from "../../core/ports/authenticator.ts";
import type { Endpoint, SharedPage } from "../../endpoints/endpoint.ts";

/** The endpoint of a hub that does not serve the console. */
export const NO_ENDPOINT: Endpoint = Object.freeze({ mount: () => {}, giveUp: () => {}, close: () => {} });

/** Returns false for a hub that other machines can reach without credentials. */
export async function isServable({ isGuarded, authenticator }: Access): Promise<boolean> {
  if (isGuarded) return true;
  const found = await authenticator.authenticate(NO_CREDENTIALS);
  return found.admitted && found.principal.remote !== true;
}

/** Sends a browser that opens the address of the hub to the console. `/?clients` shows the page for clients instead. */
export const homePage: SharedPage = {
  path: "/",
  wants: (exchange) => {
    const { method, path, search, principal } = exchange;
    const isHome = !principal.profile && method === "GET" && path.replace(/(?<!\/)\/+$/, "") === "" && search === "";
    const accept = exchange.header("accept") ?? "";
    // Clients of MCP and JSON-RPC name the media types of their protocol.
    if (!isHome || /text\/event-stream|application\/json/i.test(accept)) return false;
    return exchange.header("mcp-session-id") === undefined && /(?:^|[\s,])text\/html\s*(?:[;,]|$)/i.test(accept);
  },
  // Relative, so that it is right behind a proxy that adds a path.
  serve: ({ answer }) => answer.send(303, ["location", "./console/", "vary", "accept", "cache-control", "no-store"]),
};
