import type { Outgoing } from "../sender.ts";
import { Http1Fault } from "./fault.ts";

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^\/[\x21-\x7e]*$/;
const BEYOND_ASCII = /[\x80-\xff]/;
/** What says where a message ends, or what its connection becomes, is said here alone. */
const OURS: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "expect",
]);

/** A whole request for one write. */
export type RequestBytes =
  | { readonly data: string; readonly encoding: "latin1" | "utf8" }
  | { readonly data: Buffer; readonly encoding: undefined };

/** Throws an `Http1Fault` for what cannot be sent as one request. */
export function requestBytes({ method, path, headers, body }: Outgoing, host: string): RequestBytes {
  if (!TARGET.test(path)) throw refused("its path holds what no path may hold");
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) {
    const value = headers[name]!;
    if (!NAME.test(name) || OURS.has(name)) throw refused("one of its headers may not be set");
    if (!VALUE.test(value)) throw refused("one of its headers holds what no header may hold");
    head += `${name}: ${value}\r\n`;
  }
  if (body === undefined) return { data: `${head}\r\n`, encoding: "latin1" };
  const length = Buffer.byteLength(body);
  head += `content-length: ${length}\r\n\r\n`;
  // Text that is ASCII needs no encoding, and most is.
  if (length === body.length) return { data: head + body, encoding: "latin1" };
  if (!BEYOND_ASCII.test(head)) return { data: head + body, encoding: "utf8" };
  return { data: Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]), encoding: undefined };
}

function refused(why: string): Http1Fault {
  return new Http1Fault("TOOLYARD_BAD_REQUEST", `The request cannot be sent: ${why}.`);
}
