import { lookup as lookupName, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * Everything that is no public host: this machine, local networks, metadata services, and the ways of writing an IPv4
 * address as IPv6.
 */
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
  "::/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
] as const;

const BLOCKED = new BlockList();
for (const range of NOT_PUBLIC) {
  const [address = "", bits] = range.split("/");
  BLOCKED.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4");
}

/** Whether an IP address is one of the public internet. What is no IP address is not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && !BLOCKED.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** Whether a URL's host may be a public one, as far as can be told without asking for its address. */
export function mayBePublic({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes(".") && !/\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/.test(host);
}

/** Marks the refusal of a name that resolves into a local network. */
export const NOT_PUBLIC_CODE = "TOOLYARD_NOT_PUBLIC";

/**
 * `dns.lookup` that gives public addresses only. It is the one look-up of a connection, so that a name cannot say
 * something else later.
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
