import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.ts";

/** Throws a 415 unless the request says that its body is JSON. What a page may send without a preflight is none. */
export function assertJsonContent({ headers }: IncomingMessage): void {
  if (!isJsonContent(headers["content-type"]))
    throw new Refusal(415, "Unsupported Media Type: Content-Type must be application/json");
}

/** Only the media type counts, whatever its parameters; a list of types is none. */
function isJsonContent(header: string | undefined): boolean {
  if (header === "application/json") return true;
  return header !== undefined && header.split(";", 1)[0]!.trim().toLowerCase() === "application/json";
}
