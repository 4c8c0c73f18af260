import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { ServerRequest } from "../../../core/calls/call.ts";
import { FailError } from "../../../core/errors.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../../core/json/json.ts";
import { fail, type RpcErrorObject } from "../../../core/calls/outcome.ts";
import { RPC } from "../../../wire/messages.ts";
import type { McpAnswer } from "../answers.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/**
 * Returns the capabilities that a request for input requires and the caller did not declare, in the form of client
 * capabilities. Returns `undefined` if none is missing. `elicitation: {}` means forms, as before there were modes.
 */
export function missingCapabilities(ask: ServerRequest, declared: JsonObject): JsonObject | undefined {
  switch (ask.method) {
    case "elicitation/create":
      return missingElicitation(ask.params["mode"] === "url" ? "url" : "form", objectMember(declared, "elicitation"));
    case "sampling/createMessage":
      return missingSampling(ask.params, objectMember(declared, "sampling"));
    case "roots/list":
      return objectMember(declared, "roots") ? undefined : { roots: {} };
    default:
      return undefined;
  }
}

/** Returns true if the method may be sent to a caller in this era. */
export function isInputMethod(method: string): boolean {
  return method === "elicitation/create" || method === "sampling/createMessage" || method === "roots/list";
}

function capabilityError(missing: JsonObject): RpcErrorObject {
  const names = Object.keys(missing).join(", ");
  return { code: RPC.missingClientCapability, message: `${MISSING}${names}`, data: { requiredCapabilities: missing } };
}

/**
 * Start of the message that refuses a server request. A server that fails because of the refusal usually repeats this
 * text.
 */
const MISSING = "Missing required client capabilities: ";

/** Returns the union of two capabilities, with the modes and tools that either names. */
export function joinCapabilities(first: JsonObject, second: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys({ ...first, ...second }).map((name) => [
      name,
      { ...objectMember(first, name), ...objectMember(second, name) },
    ]),
  );
}

/**
 * Returns the answer to a call whose server requests were refused, because its caller did not declare the required
 * capabilities. A legacy server reports the refusal in its own result or error. This function replaces that answer by
 * the standard error of the modern era. A call that succeeded, or failed for another reason, keeps its answer.
 */
export function asUndeclared(answer: McpAnswer, missing: JsonObject): McpAnswer {
  return failedOfRefusal(answer) ? { type: "error", error: capabilityError(missing) } : answer;
}

function failedOfRefusal(answer: McpAnswer): boolean {
  if (answer.type === "error")
    return answer.error.code === RPC.missingClientCapability || answer.error.message.includes(MISSING);
  return (
    answer.type === "result" &&
    answer.result["isError"] === true &&
    stringifyExact(answer.result["content"] ?? "").includes(MISSING)
  );
}

/** Returns the failure of the server request. If a tool fails because of it, its caller gets the same failure. */
export function undeclaredFailure(missing: JsonObject): FailError {
  const message =
    "The calling client cannot be asked: it did not declare the capability " +
    `\`${Object.keys(missing).join(", ")}\`.`;
  return new FailError(
    fail("denied", message, { details: { requiredCapabilities: missing }, rpcError: capabilityError(missing) }),
  );
}

/** Returns true if a response has the required form. Any other response is ignored, and the request is sent again. */
export function isInputResponse(method: string, response: unknown): response is JsonObject {
  if (!isJsonObject(response)) return false;
  switch (method) {
    case "elicitation/create":
      return ["accept", "decline", "cancel"].includes(String(response["action"]));
    case "sampling/createMessage":
      return typeof response["role"] === "string" && response["content"] !== undefined;
    case "roots/list":
      return Array.isArray(response["roots"]);
    default:
      return false;
  }
}

/** Returns the problem of `inputResponses` and `requestState` in a request, or `undefined`. */
export function inputProblem({ inputResponses, requestState }: JsonObject): string | undefined {
  if (requestState !== undefined && typeof requestState !== "string") return "`requestState` must be a string";
  if (inputResponses === undefined) return undefined;
  if (!isJsonObject(inputResponses)) return "`inputResponses` must be an object";
  const wrong = Object.keys(inputResponses).find((key) => !isJsonObject(inputResponses[key]));
  return wrong === undefined
    ? undefined
    : `\`inputResponses\`: the response to ${JSON.stringify(firstChars(wrong, 100))} must be an object`;
}

/** Returns the reason why an `input_required` result of a source cannot be passed to the caller, or `undefined`. */
export function relayProblem(result: JsonObject, declared: JsonObject): RpcErrorObject | undefined {
  const { inputRequests, requestState } = result;
  const entries = isJsonObject(inputRequests) ? Object.values(inputRequests) : [];
  if (entries.length === 0 && typeof requestState !== "string") {
    return { code: RPC.internal, message: "The source requested input without a request for it." };
  }
  for (const entry of entries) {
    if (!isJsonObject(entry) || typeof entry["method"] !== "string")
      return { code: RPC.internal, message: "The source asked for input in a form that cannot be read." };
    const missing = missingCapabilities(
      { method: entry["method"], params: objectMember(entry, "params") ?? {} },
      declared,
    );
    if (missing) return capabilityError(missing);
  }
  return undefined;
}

function missingElicitation(mode: "form" | "url", declared: JsonObject | undefined): JsonObject | undefined {
  if (!declared) return { elicitation: { [mode]: {} } };
  const impliesForm = mode === "form" && declared["form"] === undefined && declared["url"] === undefined;
  return impliesForm || isJsonObject(declared[mode]) ? undefined : { elicitation: { [mode]: {} } };
}

function missingSampling(params: JsonObject, declared: JsonObject | undefined): JsonObject | undefined {
  const usesTools = params["tools"] !== undefined || params["toolChoice"] !== undefined;
  if (!declared) return { sampling: usesTools ? { tools: {} } : {} };
  return usesTools && !isJsonObject(declared["tools"]) ? { sampling: { tools: {} } } : undefined;
}
