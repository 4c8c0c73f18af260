import { RELAY_HEADER } from "../relayed-headers.ts";

/** Path of relayed requests, below the base path of a hub. */
export const RELAY_PATH = "/hub/relay";
/** Name and version of the protocol, in the header `Upgrade`. */
const PROTOCOL = "toolyard-frames/1";
/** Maximum number of bytes of the head of a request or response that opens a connection. */
export const MAX_UPGRADE_BYTES = 8 * 1024;
const HEAD_END = "\r\n\r\n";

const REQUEST_LINE = /^GET (\S+) HTTP\/1\.1$/;

/** Returns the request that opens a connection to the hub at `url` (RFC 9110 section 7.8). */
export function upgradeRequest({ host, pathname }: URL, hello: string): string {
  const path = `${pathname.replace(/\/$/, "")}${RELAY_PATH}`;
  return headOf(`GET ${path} HTTP/1.1`, [`Host: ${host}`, `${RELAY_HEADER}: ${hello}`]);
}

/** Returns the response that accepts a connection. */
export function upgradeResponse(reply: string): string {
  return headOf("HTTP/1.1 101 Switching Protocols", [`${RELAY_HEADER}: ${reply}`]);
}

function headOf(first: string, fields: readonly string[]): string {
  return [first, ...fields, "Connection: Upgrade", `Upgrade: ${PROTOCOL}`].join("\r\n") + HEAD_END;
}

/** Returns the hello of a request that opens a connection. Returns `undefined` for any other request. */
export function readUpgradeRequest(bytes: Buffer): string | undefined {
  if (bytes.length > MAX_UPGRADE_BYTES) return undefined;
  const text = bytes.toString("latin1");
  // The bytes must end with the head, because another hub sends nothing more before the response.
  if (text.indexOf(HEAD_END) !== text.length - HEAD_END.length) return undefined;
  const [first = "", ...lines] = text.slice(0, -HEAD_END.length).split("\r\n");
  const path = REQUEST_LINE.exec(first)?.[1];
  return path?.endsWith(RELAY_PATH) ? relayFieldOf(lines) : undefined;
}

export interface UpgradeResponse {
  /** Reply of the other hub. Absent: it did not accept the connection. */
  readonly reply: string | undefined;
  /** Number of bytes of the response's head. */
  readonly bytes: number;
}

/** Reads the response to a request that opens a connection. Returns `undefined` while its head is incomplete. */
export function readUpgradeResponse(bytes: Buffer): UpgradeResponse | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return bytes.length > MAX_UPGRADE_BYTES ? { reply: undefined, bytes: 0 } : undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const reply = /^HTTP\/1\.1 101(?: |$)/.test(first) ? relayFieldOf(lines) : undefined;
  return { reply, bytes: end + HEAD_END.length };
}

/** Returns the value of `RELAY_HEADER` if `Upgrade` names this version of the protocol. */
function relayFieldOf(lines: readonly string[]): string | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return fields.get("upgrade")?.toLowerCase() === PROTOCOL ? fields.get(RELAY_HEADER) : undefined;
}
