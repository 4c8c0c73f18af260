import { Refusal } from "../answer/refusal.ts";
import type { HttpRequest } from "../wire.ts";

/**
 * Throws a 415 unless the request declares its body as JSON. Types that a page may send without a preflight are
 * refused.
 */
export function assertJsonContent(request: Pick<HttpRequest, "header">): void {
  if (!isJsonContent(request.header("content-type")))
    throw new Refusal(415, "Unsupported Media Type: Content-Type must be application/json");
}

/**
 * Headers that browsers send with every POST, at least one of them, and that a page cannot remove. `Sec-Fetch-Mode` is
 * not among them, because the `fetch` of Node sends it, too.
 */
const BROWSER_HEADERS = ["origin", "sec-fetch-site", "sec-fetch-dest", "referer", "cookie"] as const;

/**
 * Throws a 415 if a browser sends a body that is not declared as JSON. Programs may omit the type: `curl -d` declares a
 * form. A page of another site cannot use this, because its browser identifies itself.
 */
export function assertJsonFromBrowsers(request: Pick<HttpRequest, "header">): void {
  if (BROWSER_HEADERS.some((name) => request.header(name) !== undefined)) assertJsonContent(request);
}

/** Only the media type counts, without its parameters; a list of types is not JSON. */
export function isJsonContent(header: string | undefined): boolean {
  if (header === "application/json") return true;
  return header !== undefined && header.split(";", 1)[0]!.trim().toLowerCase() === "application/json";
}
