import type { CallMethod } from "../../core/calls/call.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { FailKind } from "../../core/calls/kinds.ts";
import { fail, ok, type Fail, type Outcome, type RpcErrorObject } from "../../core/calls/outcome.ts";
import { failureText, kindDetails, resultText } from "../../core/calls/tool-value.ts";
import { RPC, type RpcReply } from "../../wire/messages.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Maximum number of characters of a server's own text in a message. */
const MAX_WORDS = 1000;

/**
 * Converts a server's answer to a call into an outcome. Members are kept unchanged; only an unusable answer becomes a
 * failure.
 */
export function toOutcome(method: CallMethod, reply: RpcReply): Outcome {
  if ("error" in reply) return toFail(method, reply.error);
  const { result } = reply;
  if (result["resultType"] === "input_required") return ok(result);
  const nonsense = findNonsense(method, result);
  if (nonsense !== undefined)
    return fail(
      "malformed",
      `The server's answer to \`${method}\` is invalid: ${nonsense}. The author of the server must fix that.`,
    );
  if (method === "tools/call" && result["isError"] === true)
    return fail("tool_error", firstChars(failureText(resultText(result)), MAX_WORDS), {
      result,
      ...kindDetails(result),
    });
  return ok(result);
}

/** Converts a protocol error into a failure that carries it unchanged. */
function toFail(method: CallMethod, rpcError: RpcErrorObject): Fail {
  const words = firstChars(rpcError.message, MAX_WORDS);
  return fail(kindOf(method, rpcError), words === "" ? `The server answered with error ${rpcError.code}.` : words, {
    rpcError,
  });
}

const SAYS_UNKNOWN = /\b(?:unknown|not found|no such|does not exist|not exist|unrecogni[sz]ed)\b/i;

function kindOf(method: CallMethod, { code, message }: RpcErrorObject): FailKind {
  if (code === RPC.resourceNotFound && method === "resources/read") return "unknown_tool";
  if (code !== RPC.invalidParams) return "tool_error";
  return SAYS_UNKNOWN.test(message) ? "unknown_tool" : "invalid_params";
}

interface ResultMember {
  readonly member: string;
  readonly isFine: (value: unknown) => boolean;
}

/** The required member of each method's result, with its check. */
const SHAPES: Record<CallMethod, ResultMember | undefined> = {
  "tools/call": { member: "content", isFine: Array.isArray },
  "resources/read": { member: "contents", isFine: Array.isArray },
  "prompts/get": { member: "messages", isFine: Array.isArray },
  "completion/complete": { member: "completion", isFine: isJsonObject },
  extension: undefined,
};

function findNonsense(method: CallMethod, result: JsonObject): string | undefined {
  const shape = SHAPES[method];
  if (!shape) return undefined;
  const { member, isFine } = shape;
  const value = result[member];
  if (isFine(value)) return undefined;
  if (value !== undefined) return `\`${member}\` has the wrong type`;
  // Results of an unknown type, and results with only structured content, are accepted.
  const isOfOtherKind =
    (typeof result["resultType"] === "string" && result["resultType"] !== "complete") ||
    "structuredContent" in result ||
    "toolResult" in result;
  return method === "tools/call" && isOfOtherKind ? undefined : `\`${member}\` is missing`;
}
