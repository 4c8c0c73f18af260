import type { HttpClientOptions } from "../../outbound/client/http-client.ts";
import { resolveProxy, type ProxyEnvironment } from "../../outbound/proxy.ts";
import type { RemoteServerOptions } from "./options.ts";

/** A slower TCP and TLS handshake counts as failed. */
const MAX_HANDSHAKE_MS = 10_000;

/** Returns how a server, or its authorisation server, is reached. */
export function connectionOptions(
  url: URL,
  { ca, proxy: configured, upstream }: RemoteServerOptions,
  environment: ProxyEnvironment,
): Pick<HttpClientOptions, "url" | "caFiles" | "connectTimeoutMs" | "proxy"> {
  const proxy = resolveProxy(url, configured, environment);
  // Setting a CA file replaces those that Node adds automatically.
  const extra = environment["NODE_EXTRA_CA_CERTS"];
  return {
    url,
    caFiles: ca === undefined ? [] : [ca, ...(extra ? [extra] : [])],
    connectTimeoutMs: Math.min(upstream.connectTimeoutMs, MAX_HANDSHAKE_MS),
    ...(proxy !== undefined && { proxy }),
  };
}
