import type { OutgoingHttpHeaders } from "node:http";
import { pageHeaders } from "./pages.ts";

/**
 * Headers that are not copied from a response of `oidc-provider`. The listener writes the headers for CORS, body length
 * and connection; a page gets the hub's own content security policy.
 */
const NOT_COPIED = /^(access-control-|vary$|content-length$|transfer-encoding$|connection$|content-security-policy$)/;

/**
 * Returns the headers of a response of `oidc-provider` as pairs. A page also gets the headers that protect the hub's
 * pages.
 */
export function bridgedHeaders(headers: OutgoingHttpHeaders): string[] {
  const isPage = String(headers["content-type"] ?? "").startsWith("text/html");
  const copied = Object.entries(headers).filter(([name, value]) => value !== undefined && !NOT_COPIED.test(name));
  const names = new Set(copied.map(([name]) => name));
  const added = isPage ? Object.entries(pageHeaders()).filter(([name]) => !names.has(name)) : [];
  return [...copied, ...added].flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [String(value)]).flatMap((one) => [name, one]),
  );
}
