import { embeddedIpv4 } from "../embedded-ipv4.ts";
import { LOOPBACK_HOSTS, namesLoopback } from "./loopback.ts";

/** Parts of an authority. `port` includes its colon, `user` its `@`. */
interface Authority {
  readonly user: string;
  readonly host: string;
  readonly port: string;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
  "ftp:": "21",
};

/**
 * Returns all authorities that lead to the same host, for rules that deny. They have no user, port or trailing dots.
 * The host is as the URL standard writes it. An IPv6 address that contains an IPv4 address becomes that IPv4 address.
 * For a name or address of this machine, the result contains all its names and addresses.
 */
export function sameHosts(authority: string): readonly string[] {
  const { host, port } = splitAuthority(authority.toLowerCase());
  const loose = looseHost(host);
  const hosts = new Set([host, loose, ...embeddedIpv4(standardHost(host))]);
  if ([...hosts].some(namesLoopback)) for (const one of LOOPBACK_HOSTS) hosts.add(one);
  return [...new Set([authority.toLowerCase(), ...[...hosts].flatMap((one) => [`${one}${port}`, one])])];
}

/** Returns an authority without the user. */
export function withoutUser(authority: string): string {
  return authority.slice(authority.lastIndexOf("@") + 1);
}

/**
 * Returns the authority of a pattern as the URL standard writes it, so that it matches a parsed URI. A label with a
 * wildcard stays unchanged.
 */
export function standardAuthority(scheme: string, authority: string): string {
  const { user, host, port } = splitAuthority(authority.toLowerCase());
  const number = /^:\d+$/.test(port) ? `:${Number(port.slice(1))}` : port;
  const isDefault = number === ":" || number === `:${DEFAULT_PORTS[scheme]}`;
  return `${user}${standardHost(host)}${isDefault ? "" : number}`;
}

/**
 * Returns the authority of a pattern that denies: without trailing dots of the host, and with one form for each IPv4
 * address.
 */
export function looseAuthority(authority: string): string {
  const { user, host, port } = splitAuthority(authority.toLowerCase());
  return `${user}${looseHost(host)}${port}`;
}

function splitAuthority(authority: string): Authority {
  const start = authority.lastIndexOf("@") + 1;
  const rest = authority.slice(start);
  const port = /:[\d*?]*$/.exec(rest.startsWith("[") ? rest.slice(rest.indexOf("]") + 1) : rest)?.[0] ?? "";
  return { user: authority.slice(0, start), host: rest.slice(0, rest.length - port.length), port };
}

function looseHost(host: string): string {
  const named = standardHost(host.replace(/(?<![.\u3002\uff0e\uff61])[.\u3002\uff0e\uff61]+$/u, ""));
  return MAPPED.test(named) ? embeddedIpv4(named)[0]! : named;
}

/**
 * Matches IPv6 forms that are equivalent to an IPv4 address. Other forms reach the address through a translator, and
 * count as separate hosts.
 */
const MAPPED = /^\[(?:::ffff|64:ff9b:):[\da-f]{1,4}:[\da-f]{1,4}\]$/;

/** Matches almost all hosts; these need no change. */
const PLAIN_HOST = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*\.?$/;
/** Matches a host without characters that end the host of a URL. */
const HOST_ONLY = /^(?:\[[\da-f:.]+\]|[^/?#@:[\]\\\s*]+)$/u;

function standardHost(host: string): string {
  if (PLAIN_HOST.test(host)) return host;
  if (HOST_ONLY.test(host)) return URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : host;
  return host.split(".").map(standardLabel).join(".");
}

function standardLabel(label: string): string {
  // oxlint-disable-next-line no-control-regex -- everything beyond ASCII is what is looked for
  if (/^[\u0000-\u007f]*$/.test(label) || !HOST_ONLY.test(label)) return label;
  const url = `http://${label}.a/`;
  return URL.canParse(url) ? new URL(url).hostname.slice(0, -".a".length) : label;
}
