import { Refusal } from "../answer/refusal.ts";
import type { HttpRequest } from "../wire.ts";

/**
 * Throws a 415 unless the request declares its body as JSON. Media types that a page may send without a preflight are
 * refused.
 */
export function assertJsonContent(request: Pick<HttpRequest, "header">): void {
  if (!isJsonContent(request.header("content-type")))
    throw new Refusal(415, "Unsupported Media Type: Content-Type must be application/json");
}

/**
 * Browsers send at least one of these headers with every POST, and a page cannot remove them. `Sec-Fetch-Mode` is not
 * included, because `fetch` of Node sends it too.
 */
const BROWSER_HEADERS = ["origin", "sec-fetch-site", "sec-fetch-dest", "referer", "cookie"] as const;

/**
 * Throws a 415 if a browser sends a body that is not declared as JSON. Programs may omit the media type: `curl -d`
 * declares a form. A page of another site cannot use this, because its browser sends identifying headers.
 */
export function assertJsonFromBrowsers(request: Pick<HttpRequest, "header">): void {
  if (BROWSER_HEADERS.some((name) => request.header(name) !== undefined)) assertJsonContent(request);
}

/** Returns true for the media type of JSON, with any parameters. A list of types is not JSON. */
export function isJsonContent(header: string | undefined): boolean {
  if (header === "application/json") return true;
  return header !== undefined && header.split(";", 1)[0]!.trim().toLowerCase() === "application/json";
}
