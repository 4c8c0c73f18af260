import { Refusal } from "../answer/refusal.ts";
import type { HttpRequest } from "../wire.ts";

/** Throws a 415 unless the request says that its body is JSON. What a page may send without a preflight is none. */
export function assertJsonContent(request: Pick<HttpRequest, "header">): void {
  if (!isJsonContent(request.header("content-type")))
    throw new Refusal(415, "Unsupported Media Type: Content-Type must be application/json");
}

/** Only the media type counts, whatever its parameters; a list of types is none. */
export function isJsonContent(header: string | undefined): boolean {
  if (header === "application/json") return true;
  return header !== undefined && header.split(";", 1)[0]!.trim().toLowerCase() === "application/json";
}
