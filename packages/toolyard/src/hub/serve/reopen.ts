import { messageOf, OptionError } from "../../core/errors.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./endpoints.ts";
import { serveHttp, type ServedHttp } from "./serve.ts";

/**
 * Moves the HTTP endpoint to the address in `server`, with the current configuration of the hub. `before` is the
 * section from which `served` was opened. If the move fails, the previous endpoint stays open, and the failure is
 * logged. Rejects with an `OptionError` if nothing is served any more: another program took the port during the move.
 */
export async function reopen(
  hub: Hub,
  served: ServedHttp,
  { server, before }: { readonly server: ServerConfig; readonly before: ServerConfig },
): Promise<ServedHttp> {
  let isClosed = false;
  const close = async (): Promise<void> => {
    isClosed = true;
    await served.close();
  };
  try {
    const isSame = server.host === before.host && server.port === before.port;
    const fresh = isSame
      ? await replaceEndpoint(hub, server, { served, close })
      : await addEndpoint(hub, server, close);
    hub.logger.info("The endpoint was reopened.", { endpoint: fresh.endpoint });
    return fresh;
  } catch (error) {
    if (isClosed) throw new OptionError(`The endpoint could not be opened again: ${messageOf(error)}`);
    hub.logger.error("The changed [server] or [rest] cannot be served; the endpoint stays unchanged.", {
      reason: messageOf(error),
    });
    return served;
  }
}

/** Opens the endpoint at another address, then closes the previous endpoint. */
async function addEndpoint(hub: Hub, server: ServerConfig, close: () => Promise<void>): Promise<ServedHttp> {
  const fresh = await serveHttp(hub, server);
  await close();
  return fresh;
}

/**
 * Opens the endpoint at the same address. The previous endpoint is closed when everything else is ready and only the
 * port is missing, so that it stays open after any other failure.
 */
function replaceEndpoint(
  hub: Hub,
  server: ServerConfig,
  { served, close }: { readonly served: ServedHttp; readonly close: () => Promise<void> },
): Promise<ServedHttp> {
  // With port 0, the port that was chosen at the start is kept, because callers already use it.
  const wanted = server.port === 0 ? { ...server, port: served.address.port } : server;
  return serveHttp(hub, wanted, close);
}
