import { readFile } from "node:fs/promises";
import type { HttpOptions } from "../../http/options.ts";
import { urlOf } from "../../http/listening/reach.ts";

/** Returns the address of `toolyard serve` for this machine, with a name of its certificate if it has one. */
export async function ownUrl(
  http: Pick<HttpOptions, "host" | "port" | "basePath" | "allowedHosts" | "tls">,
): Promise<string> {
  const { tls } = http;
  if (!tls) return urlOf(http);
  const { nameToReach } = await import("../../http/tls/key-pair.ts");
  // The certificate may be readable only by the hub's user. If it cannot be read, the URL contains the IP address.
  const cert = await readFile(tls.certFile, "utf8").catch(() => undefined);
  return urlOf({ ...http, isSecure: true, name: cert === undefined ? undefined : nameToReach({ cert }, http) });
}
