import { isJsonObject, objectMember, stringMember } from "../../core/json/json.ts";
import { RPC } from "../../wire/messages.ts";
import type { Fail, RpcErrorObject } from "../../core/calls/outcome.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Characters of a failure's text that are searched. */
const MAX_CHARS = 1000;
/** A request from a server to its caller, as SDKs and authors name it. */
const SERVER_REQUEST =
  /\b(?:elicit\w*|sampling|create_?message|list_?roots|roots\/list|roots|server[- ](?:to[- ]client|initiated) requests?)\b/i;
/** Messages of SDKs and authors for a request that cannot be sent at all, in contrast to a user who declines. */
const INABILITY =
  /\bnot (?:available|supported|possible|allowed|implemented)\b|\bunavailable\b|\bunsupported\b|\bcannot be (?:sent|used|made)\b|\bcannot send\b|\b(?:does not|doesn't|do not) support\b|\bno back-?channel\b|METHOD_NOT_SUPPORTED/i;

/** Methods and capabilities of requests from a server to its caller. */
const METHODS = ["elicitation/create", "sampling/createMessage", "roots/list"];
const CAPABILITIES = ["elicitation", "sampling", "roots"];
/** Codes by which SDKs report, in the data of an error, that a method cannot be sent on this connection. */
const UNSENDABLE: ReadonlySet<unknown> = new Set(["METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION", RPC.methodNotFound]);

/**
 * Returns whether a server refused or failed a call because it could not send a request to the caller: by the code and
 * the data of its error, else by its text.
 */
export function couldNotAsk({ kind, message, rpcError }: Fail): boolean {
  // A failure of the connection, a timeout or a refused argument says nothing about requests to the caller.
  if (kind !== "tool_error" && rpcError === undefined) return false;
  const byCode = rpcError && couldNotAskByCode(rpcError);
  if (byCode !== undefined) return byCode;
  const text = `${firstChars(message, MAX_CHARS)} ${firstChars(rpcError?.message ?? "", MAX_CHARS)}`;
  return SERVER_REQUEST.test(text) && INABILITY.test(text);
}

/** Returns undefined if code and data report nothing about requests to the caller. */
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
