import type { Access } from "../../core/access.ts";
import { NO_CREDENTIALS } from "../../core/ports/authenticator.ts";
import type { Endpoint, SharedPage } from "../../endpoints/endpoint.ts";

export { describeAdmin } from "../../core/ports/admin-operations.ts";

/** Endpoint without paths, for a hub that does not serve the console. */
export const NO_ENDPOINT: Endpoint = Object.freeze({ mount: () => {}, giveUp: () => {}, close: () => {} });

/** Returns false if other machines can reach the hub without credentials. */
export async function isServable({ isGuarded, authenticator }: Access): Promise<boolean> {
  if (isGuarded) return true;
  const found = await authenticator.authenticate(NO_CREDENTIALS);
  return found.admitted && found.principal.remote !== true;
}

/** Location of the console from `/`. It is relative, so that it is correct behind a proxy that adds a path. */
const CONSOLE_LOCATION = "./console/";

/**
 * Redirects a browser from the address of the hub to the console, also without credentials: the console has its own
 * sign-in. `/?clients` shows the page for clients instead.
 */
export const homePage: SharedPage = {
  path: "/",
  signInAt: CONSOLE_LOCATION,
  wants: (exchange) => {
    const { method, path, search, principal } = exchange;
    const isHome = !principal.profile && method === "GET" && path.replace(/(?<!\/)\/+$/, "") === "" && search === "";
    const accept = exchange.header("accept") ?? "";
    // A request that accepts the media types of MCP or JSON-RPC is not from a browser.
    if (!isHome || /text\/event-stream|application\/json/i.test(accept)) return false;
    return exchange.header("mcp-session-id") === undefined && /(?:^|[\s,])text\/html\s*(?:[;,]|$)/i.test(accept);
  },
  serve: ({ answer }) =>
    answer.send(303, ["location", CONSOLE_LOCATION, "vary", "accept", "cache-control", "no-store"]),
};
