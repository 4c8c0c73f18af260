import { isIP } from "node:net";
import { isLoopback } from "../../core/uris/loopback.ts";
import { mayBePublic } from "../../outbound/addresses.ts";
import type { AppDomains } from "./app-types.ts";

/** Network places from which the page of a tool is shown. */
export interface AppPlace {
  /** Address at which the browser opened the console. */
  readonly hub: URL;
  /**
   * Address of the server that offers the page, or `hub` for a program on the machine of the hub. Absent: neither is
   * known.
   */
  readonly server?: URL | "hub";
}

/**
 * Returns the declared origins without hosts that are not public, because a page must not use the browser to reach the
 * user's machine and network. Exceptions are hosts that its server can reach itself. The hub's own origin is never
 * permitted.
 */
export function permittedDomains(declared: AppDomains, place: AppPlace): AppDomains {
  const permitted = (origins: readonly string[]): readonly string[] =>
    origins.filter((origin) => isPermitted(origin, place));
  return {
    connectDomains: permitted(declared.connectDomains),
    resourceDomains: permitted(declared.resourceDomains),
    frameDomains: permitted(declared.frameDomains),
    baseUriDomains: permitted(declared.baseUriDomains),
  };
}

const SUBDOMAINS = "*.";

/** `origin` has the form that `readDomains` accepts. */
function isPermitted(origin: string, { hub, server }: AppPlace): boolean {
  const isPattern = origin.includes(SUBDOMAINS);
  const text = origin.replace(SUBDOMAINS, "");
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (isHub(url, hub, isPattern)) return false;
  // Chromium matches the end of an IP address as if it was a domain: `*.0.0.1` includes 127.0.0.1.
  if (isPattern) return mayBePublic(url) && isIP(url.hostname) === 0;
  if (mayBePublic(url)) return true;
  // Loopback is the browser's machine, which is the hub's machine only if the console was opened at loopback.
  if (isLoopback(url.hostname) && !isLoopback(hub.hostname)) return false;
  return server === "hub" ? !mayBePublic(hub) : server?.hostname === url.hostname;
}

/** Returns true if an origin of a policy includes the hub. Without a port, it includes the default ports. */
function isHub(url: URL, hub: URL, isPattern: boolean): boolean {
  const isHost = isPattern
    ? hub.hostname.endsWith(`.${url.hostname}`)
    : url.hostname === hub.hostname || (isLoopback(url.hostname) && isLoopback(hub.hostname));
  return isHost && portsOf(url).some((port) => portsOf(hub).includes(port));
}

const DEFAULT_PORTS = ["80", "443"];

function portsOf({ port }: URL): readonly string[] {
  return port === "" ? DEFAULT_PORTS : [port];
}
