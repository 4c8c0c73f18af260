import type { Fail } from "../../core/calls/outcome.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Characters of a failure's text that are searched. */
const MAX_CHARS = 1000;
/** A request from a server to its caller, as SDKs and authors name it. */
const SERVER_REQUEST =
  /\b(?:elicit\w*|sampling|create_?message|list_?roots|roots\/list|roots|server[- ](?:to[- ]client|initiated) requests?)\b/i;
/** What SDKs and authors write if such a request cannot be sent at all; a user who declines is another matter. */
const INABILITY =
  /\bnot (?:available|supported|possible|allowed|implemented)\b|\bunavailable\b|\bunsupported\b|\bcannot be (?:sent|used|made)\b|\bcannot send\b|\b(?:does not|doesn't|do not) support\b|\bno back-?channel\b|METHOD_NOT_SUPPORTED/i;

/** Tells whether a server refused or failed a call because it could not send a request to the caller. */
export function couldNotAsk({ kind, message, rpcError }: Fail): boolean {
  // A failure of the connection, a timeout or a refused argument says nothing about requests to the caller.
  if (kind !== "tool_error" && rpcError === undefined) return false;
  const text = `${firstChars(message, MAX_CHARS)} ${firstChars(rpcError?.message ?? "", MAX_CHARS)}`;
  return SERVER_REQUEST.test(text) && INABILITY.test(text);
}
