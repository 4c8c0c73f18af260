/** An authority in its parts; `port` has its colon, `user` its `@`. */
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
 * Every authority that leads to the host of this one, for rules that deny: without user, port and trailing dots, with
 * the host as the URL standard writes it, and an IPv6 address that contains an IPv4 address as that address.
 */
export function sameHosts(authority: string): readonly string[] {
  const { host, port } = splitAuthority(authority.toLowerCase());
  const loose = looseHost(host);
  const hosts = new Set([host, loose, ...(LOOPBACK.test(loose) ? LOOPBACK_HOSTS : [])]);
  return [...new Set([authority.toLowerCase(), ...[...hosts].flatMap((one) => [`${one}${port}`, one])])];
}

/** An authority without the user. */
export function withoutUser(authority: string): string {
  return authority.slice(authority.lastIndexOf("@") + 1);
}

/**
 * The authority of a pattern as the URL standard writes it, so that it meets that of a parsed URI. A label with a
 * wildcard stays as it is.
 */
export function standardAuthority(scheme: string, authority: string): string {
  const { user, host, port } = splitAuthority(authority.toLowerCase());
  const number = /^:\d+$/.test(port) ? `:${Number(port.slice(1))}` : port;
  const isDefault = number === ":" || number === `:${DEFAULT_PORTS[scheme]}`;
  return `${user}${standardHost(host)}${isDefault ? "" : number}`;
}

/** The same for a pattern that denies: trailing dots of the host do not count, and an IPv4 address has one form. */
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
  const parts = WITH_IPV4.exec(named);
  return parts ? dotted(Number.parseInt(parts[1]!, 16), Number.parseInt(parts[2]!, 16)) : named;
}

/** Almost all hosts are names that nothing is to be done to. */
const PLAIN_HOST = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*\.?$/;
/** Nothing that would end the host of a URL. */
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

/** IPv6 addresses that contain an IPv4 address: `::ffff:0:0/96` and `64:ff9b::/96`. */
const WITH_IPV4 = /^\[(?:::ffff:|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})\]$/;
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])$/;
const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
