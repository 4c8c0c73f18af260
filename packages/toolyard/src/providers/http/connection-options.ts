import type { HttpClientOptions } from "../../outbound/client/http-client.ts";
import { resolveProxy, type ProxyEnvironment } from "../../outbound/proxy.ts";
import type { RemoteServerOptions } from "./options.ts";

/** A TCP and TLS handshake that takes longer will not come about. */
const MAX_HANDSHAKE_MS = 10_000;

/** How a server is reached, or whoever is asked on its behalf. */
export function connectionOptions(
  url: URL,
  { ca, proxy: configured, upstream }: RemoteServerOptions,
  environment: ProxyEnvironment,
): Pick<HttpClientOptions, "url" | "caFiles" | "connectTimeoutMs" | "proxy"> {
  const proxy = resolveProxy(url, configured, environment);
  // Naming one CA file replaces what Node adds to its list by itself.
  const extra = environment["NODE_EXTRA_CA_CERTS"];
  return {
    url,
    caFiles: ca === undefined ? [] : [ca, ...(extra ? [extra] : [])],
    connectTimeoutMs: Math.min(upstream.connectTimeoutMs, MAX_HANDSHAKE_MS),
    ...(proxy !== undefined && { proxy }),
  };
}
