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

/** Only the media type counts, without its parameters; a list of types is not JSON. */
export function isJsonContent(header: string | undefined): boolean {
  if (header === "application/json") return true;
  return header !== undefined && header.split(";", 1)[0]!.trim().toLowerCase() === "application/json";
}
