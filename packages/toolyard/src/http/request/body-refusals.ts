import { Refusal } from "../answer/refusal.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Refusals close the connection, because the rest of the body was not read. */
const CLOSE = { connection: "close" };

export function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `Payload Too Large: Request body must not exceed ${maxBytes} bytes`);
}

export function incomplete(): Refusal {
  return new Refusal(400, "The request body ended before it was complete.", CLOSE);
}

/** Returns the refusal for a body that `BodyBudget` has released. */
export function tooSlow(): Refusal {
  return new Refusal(
    503,
    "Too many bytes of unfinished request bodies are held, and this body arrives slowest. Send the request again.",
    { ...CLOSE, "retry-after": "1" },
  );
}

/** Throws a `Refusal` for a compressed body. */
export function assertPlain(encoding: string | undefined): void {
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  throw new Refusal(415, `Unsupported Content-Encoding: ${firstChars(encoding, 40)}. Send the body as it is.`, CLOSE);
}
