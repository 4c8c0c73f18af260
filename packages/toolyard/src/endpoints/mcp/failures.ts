import type { CallMethod } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { KIND_META_KEY, KINDS, RETRY_META_KEY } from "../../core/calls/kinds.ts";
import type { Fail, RpcErrorObject } from "../../core/calls/outcome.ts";
import { RPC } from "../../wire/messages.ts";
import { errorAnswer, internalAnswer, resultAnswer, SILENCE, type McpAnswer } from "./answers.ts";

/** Differences between eras and revisions in reports of failures. */
export interface FailureRules {
  /**
   * Report of arguments that do not match the schema in `tools/call`: a protocol error up to 2025-06-18, a result
   * since.
   */
  readonly invalidArguments: "error" | "isError";
  /** Error code of a missing resource: -32002 in the legacy era, -32602 since 2026-07-28. */
  readonly resourceNotFoundCode: number;
  /** Converts a protocol error of an upstream server to codes of this era. */
  upstreamError(error: RpcErrorObject, method: CallMethod): RpcErrorObject;
}

export interface FailedCall {
  readonly id: string;
  readonly method: CallMethod;
  readonly target: string;
  /** True if the caller itself cancelled. It then gets no response. */
  readonly cancelled: boolean;
}

/** Converts a failure to an MCP answer. The MCP endpoint uses the table of outcome codes only here. */
export function failureAnswer(failure: Fail, call: FailedCall, rules: FailureRules): McpAnswer {
  if (failure.kind === "cancelled" && call.cancelled) return SILENCE;
  // If a server request was refused, the tool failed because of it. The error of that request is not a protocol error
  // of the upstream.
  const { rpcError } = failure;
  if (rpcError && failure.details?.["ask"] === undefined)
    return { type: "error", error: upstreamError({ ...failure, rpcError }, call, rules) };
  if (failure.requiredScopes) return scopesAnswer(failure, failure.requiredScopes);
  if (failure.kind === "internal") return internalAnswer(call.id);
  if (failure.kind === "unknown_tool") return notFoundAnswer(failure, call, rules);
  if (call.method !== "tools/call") return errorAnswer(protocolCode(failure), withHints(failure), errorData(failure));
  if (failure.result) return resultAnswer(failure.result);
  return isProtocolError(failure, rules)
    ? errorAnswer(protocolCode(failure), withHints(failure), errorData(failure))
    : toolFailure(failure);
}

/** Returns an error, because a result would not show the client that it can request the missing scopes. */
function scopesAnswer(failure: Fail, requiredScopes: readonly string[]): McpAnswer {
  const error = { code: protocolCode(failure), message: failure.message, data: errorData(failure) };
  return { type: "error", error, kind: failure.kind, requiredScopes };
}

function isProtocolError({ kind }: Fail, { invalidArguments }: FailureRules): boolean {
  const rule = KINDS[kind].mcp;
  return typeof rule === "number" || (rule === "by-revision" && invalidArguments === "error");
}

// Converts an upstream's error code for a missing resource to the code of the caller's era.
function upstreamError(
  { kind, rpcError }: Fail & { readonly rpcError: RpcErrorObject },
  { method }: FailedCall,
  rules: FailureRules,
): RpcErrorObject {
  if (method === "resources/read" && kind === "unknown_tool") return { ...rpcError, code: rules.resourceNotFoundCode };
  return rules.upstreamError(rpcError, method);
}

function toolFailure(failure: Fail): McpAnswer {
  return resultAnswer({
    content: [{ type: "text", text: withHints(failure) }],
    isError: true,
    _meta: { [KIND_META_KEY]: failure.kind, ...retryFacts(failure) },
  });
}

function notFoundAnswer(failure: Fail, call: FailedCall, rules: FailureRules): McpAnswer {
  const { target, method } = call;
  if (method === "resources/read")
    return errorAnswer(rules.resourceNotFoundCode, withHints(failure, `Resource not found: ${target}`), {
      uri: target,
    });
  const what = method === "prompts/get" ? "prompt" : method === "completion/complete" ? "reference" : "tool";
  return errorAnswer(RPC.invalidParams, withHints(failure, `Unknown ${what}: ${target}`), errorData(failure));
}

/**
 * Returns the code for methods whose MCP results cannot report failures: -32602 for errors of the caller, -32603 for
 * all others.
 */
function protocolCode(failure: Fail): number {
  const rule = KINDS[failure.kind].mcp;
  if (typeof rule === "number") return rule;
  return rule === "by-revision" ? RPC.invalidParams : RPC.internal;
}

function errorData(failure: Fail): JsonObject {
  const { candidates, near, errors, signIn } = failure.details ?? {};
  const details = Object.entries({ candidates, near, errors, signIn }).filter(([, value]) => value !== undefined);
  return { [KIND_META_KEY]: failure.kind, ...retryFacts(failure), ...Object.fromEntries(details) };
}

function retryFacts(failure: Fail): JsonObject {
  return failure.retryAfterMs === undefined ? {} : { [RETRY_META_KEY]: failure.retryAfterMs };
}

/** Returns the message with the next step, unless the message contains it. A model reads only this text. */
function withHints(failure: Fail, message = failure.message): string {
  const withheld = failure.details?.["withheld"];
  const sentences = [message];
  if (typeof withheld === "string" && !message.includes(withheld))
    sentences.push(`It is not offered because ${withheld}.`);
  const near = unsaid(failure.details?.["near"], message);
  const candidates = unsaid(failure.details?.["candidates"], message);
  if (near.length > 0) sentences.push(`Did you mean ${near.slice(0, MAX_NEAR).join(", ")}?`);
  if (candidates.length > 0) sentences.push(`Candidates: ${candidates.slice(0, MAX_CANDIDATES).join(", ")}.`);
  if (failure.retryAfterMs !== undefined && !/try again|retry/i.test(message)) {
    sentences.push(`Try again in ${Math.max(1, Math.ceil(failure.retryAfterMs / 1000))} s.`);
  }
  return sentences
    .map((sentence, at) => (at < sentences.length - 1 && !/[.?!]$/.test(sentence) ? `${sentence}.` : sentence))
    .join(" ");
}

function unsaid(names: unknown, message: string): string[] {
  if (!Array.isArray(names)) return [];
  return names.filter((name): name is string => typeof name === "string" && !message.includes(name));
}

const MAX_NEAR = 3;
const MAX_CANDIDATES = 20;
