import { readFile } from "node:fs/promises";
import type { HttpOptions } from "../../http/options.ts";
import { urlOf } from "../../http/listening/reach.ts";

/** Where `toolyard serve` can be reached from this machine: under a name of its certificate, where it has one. */
export async function ownUrl(
  http: Pick<HttpOptions, "host" | "port" | "basePath" | "allowedHosts" | "tls">,
): Promise<string> {
  const { tls } = http;
  if (!tls) return urlOf(http);
  const { nameToReach } = await import("../../http/tls/key-pair.ts");
  // The key is for the hub's user alone, and its certificate may be: then the address has to do.
  const cert = await readFile(tls.certFile, "utf8").catch(() => undefined);
  return urlOf({ ...http, isSecure: true, name: cert === undefined ? undefined : nameToReach({ cert }, http) });
}
