import { isJsonObject, objectMember, stringMember } from "../../core/json/json.ts";
import { RPC } from "../../wire/messages.ts";
import type { Fail, RpcErrorObject } from "../../core/calls/outcome.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Maximum number of characters of a failure's text that are searched. */
const MAX_CHARS = 1000;
/** Matches the names that SDKs and authors use for a request from a server to its caller. */
const SERVER_REQUEST =
  /\b(?:elicit\w*|sampling|create_?message|list_?roots|roots\/list|roots|server[- ](?:to[- ]client|initiated) requests?)\b/i;
/**
 * Matches messages of SDKs and authors about a request that cannot be sent at all, but not about a user who declines.
 */
const INABILITY =
  /\bnot (?:available|supported|possible|allowed|implemented)\b|\bunavailable\b|\bunsupported\b|\bcannot be (?:sent|used|made)\b|\bcannot send\b|\b(?:does not|doesn't|do not) support\b|\bno back-?channel\b|METHOD_NOT_SUPPORTED/i;

/** Methods and capabilities of requests from a server to its caller. */
const METHODS = ["elicitation/create", "sampling/createMessage", "roots/list"];
const CAPABILITIES = ["elicitation", "sampling", "roots"];
/** Codes in an error's data with which SDKs report that a method cannot be sent on this connection. */
const UNSENDABLE: ReadonlySet<unknown> = new Set(["METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION", RPC.methodNotFound]);

/**
 * Returns whether a server failed a call because it could not send a request to the caller. Decides by the code and the
 * data of its error, else by its text.
 */
export function couldNotAsk({ kind, message, rpcError }: Fail): boolean {
  // Failures of the connection, timeouts and rejected arguments do not concern requests to the caller.
  if (kind !== "tool_error" && rpcError === undefined) return false;
  const byCode = rpcError && couldNotAskByCode(rpcError);
  if (byCode !== undefined) return byCode;
  const text = `${firstChars(message, MAX_CHARS)} ${firstChars(rpcError?.message ?? "", MAX_CHARS)}`;
  return SERVER_REQUEST.test(text) && INABILITY.test(text);
}

/** Returns undefined if the code and the data do not concern requests to the caller. */
function couldNotAskByCode({ code, message, data }: RpcErrorObject): boolean | undefined {
  const facts = isJsonObject(data) ? data : {};
  if (code === RPC.missingClientCapability) {
    const required = objectMember(facts, "requiredCapabilities");
    return required === undefined || CAPABILITIES.some((name) => Object.hasOwn(required, name));
  }
  if (!UNSENDABLE.has(code) && !UNSENDABLE.has(facts["code"])) return undefined;
  const method = stringMember(facts, "method");
  const named = method ?? firstChars(message, MAX_CHARS);
  return METHODS.some((one) => (method === undefined ? named.includes(one) : named === one)) || undefined;
}
