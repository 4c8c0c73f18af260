import { lookup as lookupName, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * IPv6 addresses that are assigned to the public internet. Includes IPv4 addresses mapped to IPv6, which are checked as
 * IPv4.
 */
const GIVEN_OUT = ["2000::/3", "::ffff:0:0/96"] as const;

/** Hosts that are not public: this machine, local networks, metadata services, tunnels, documentation ranges. */
const NOT_PUBLIC = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
] as const;

const POSSIBLE = listOf(GIVEN_OUT);
const BLOCKED = listOf(NOT_PUBLIC);

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** Returns whether the text is an IP address of the public internet. False if it is not an IP address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !BLOCKED.check(address, "ipv4");
  return version === 6 && POSSIBLE.check(address, "ipv6") && !BLOCKED.check(address, "ipv6");
}

/** Returns whether a URL's host may be public, judged by its name without a DNS query. */
export function mayBePublic({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPublicAddress(host);
  return (
    host.includes(".") &&
    !/\.(?:localhost|localdomain[46]?|local|internal|intranet|lan|home|corp|home\.arpa)$/.test(host)
  );
}

/** Error code for a host name that resolves to an address that is not public. */
export const NOT_PUBLIC_CODE = "TOOLYARD_NOT_PUBLIC";

/**
 * `dns.lookup` that returns only public addresses. A connection resolves its name only once, so the name cannot resolve
 * to another address later (DNS rebinding).
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookupName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "", 0);
    const usable = addresses.filter(({ address }) => isPublicAddress(address));
    const [first] = usable;
    if (first === undefined)
      return callback(Object.assign(new Error("resolves to no public address"), { code: NOT_PUBLIC_CODE }), "", 0);
    if (options.all) (callback as (error: null, all: LookupAddress[]) => void)(null, usable);
    else callback(null, first.address, first.family);
  });
};
