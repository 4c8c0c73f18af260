import type { HttpClientOptions } from "../../outbound/client/http-client.ts";
import { resolveProxy, type ProxyEnvironment } from "../../outbound/proxy.ts";
import type { RemoteServerOptions } from "./options.ts";

/** Time limit in milliseconds of the TCP and TLS handshake. */
const MAX_HANDSHAKE_MS = 10_000;

/** Returns the connection options for a server, or for its authorization server. */
export function connectionOptions(
  url: URL,
  { ca, proxy: configured, upstream }: RemoteServerOptions,
  environment: ProxyEnvironment,
): Pick<HttpClientOptions, "url" | "caFiles" | "connectTimeoutMs" | "proxy"> {
  const proxy = resolveProxy(url, configured, environment);
  // A configured CA file replaces the CAs that Node adds from `NODE_EXTRA_CA_CERTS`, so that file is added here.
  const extra = environment["NODE_EXTRA_CA_CERTS"];
  return {
    url,
    caFiles: ca === undefined ? [] : [ca, ...(extra ? [extra] : [])],
    connectTimeoutMs: Math.min(upstream.connectTimeoutMs, MAX_HANDSHAKE_MS),
    ...(proxy !== undefined && { proxy }),
  };
}
