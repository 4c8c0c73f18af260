import { BuiltCall } from "../../core/calls/built-call.ts";
import type { Call, CallMethod } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import { RPC } from "../../wire/messages.ts";
import { errorAnswer, resultAnswer, type McpAnswer } from "./answers.ts";
import { failureAnswer } from "./failures.ts";
import { faultAnswer, isPassedOn, methodNotFound, type MethodContext, type MethodRequest } from "./methods.ts";

/** Target of a call, or the problem of its parameters in one sentence. */
type ReadTarget = { readonly target: string } | { readonly problem: string };

/** Member of the parameters with the target of a call. */
const TARGET_MEMBERS: ReadonlyMap<string, "name" | "uri"> = new Map<CallMethod, "name" | "uri">([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/**
 * Answers the calls that both eras share (`tools/call`, `resources/read`, `prompts/get`, `completion/complete`) and
 * methods of extensions. Never rejects.
 */
export function answerCall(request: MethodRequest, context: MethodContext): Promise<McpAnswer> {
  const { method, params, meta } = request;
  const { view, link } = context;
  const member = TARGET_MEMBERS.get(method);
  if (member === undefined && method !== "completion/complete")
    return isPassedOn(method, context) ? answerExtension(request, context) : Promise.resolve(methodNotFound(method));
  const read = member === undefined ? completionTarget(params) : namedTarget(params, member);
  if ("problem" in read) return Promise.resolve(errorAnswer(RPC.invalidParams, read.problem));
  const args = params["arguments"];
  const call = new BuiltCall(link, {
    // The method has a target, so it is the method of a call.
    method: method as CallMethod,
    target: read.target,
    params: otherParams(params),
    arguments: isJsonObject(args) ? args : {},
    meta,
    principal: view.principal,
    mode: view.mode,
  });
  return answered(call, context);
}

function answerExtension({ method, params, meta }: MethodRequest, context: MethodContext): Promise<McpAnswer> {
  const { view, link } = context;
  const { _meta: _, ...rest } = params;
  const { principal, mode } = view;
  const call = new BuiltCall(link, {
    method: "extension",
    target: method,
    params: rest,
    arguments: NO_PARAMS,
    meta,
    principal,
    mode,
  });
  return answered(call, context);
}

async function answered(call: Call, { deps, codec, link }: MethodContext): Promise<McpAnswer> {
  const { method, target } = call;
  try {
    const outcome = await deps.hub.call(call);
    if (outcome.ok) return resultAnswer(codec.result?.(method, target, outcome.result) ?? outcome.result);
    const answer = failureAnswer(outcome, { id: call.id, method, target, cancelled: link.cancellation.aborted }, codec);
    return answer.type === "result" && outcome.result
      ? resultAnswer(codec.result?.(method, target, answer.result) ?? answer.result)
      : answer;
  } catch (error) {
    if (error instanceof FailError)
      return failureAnswer(error.failure, { id: call.id, method, target, cancelled: link.cancellation.aborted }, codec);
    return faultAnswer(error, { method, callId: call.id }, deps);
  }
}

const OWN_PARAMS: ReadonlySet<string> = new Set(["_meta", "name", "uri", "arguments"]);
const NO_PARAMS: JsonObject = Object.freeze({});

/** Returns the members of the parameters that are not stored in another field of the call. */
function otherParams(params: JsonObject): JsonObject {
  let others: JsonObject | undefined;
  // Assigning to the member `__proto__` would set the object's prototype, so such parameters are copied differently.
  if (Object.hasOwn(params, "__proto__"))
    return Object.fromEntries(Object.entries(params).filter(([member]) => !OWN_PARAMS.has(member)));
  for (const member in params) if (!OWN_PARAMS.has(member)) (others ??= {})[member] = params[member];
  return others ?? NO_PARAMS;
}

function namedTarget(params: JsonObject, member: "name" | "uri"): ReadTarget {
  const target = stringMember(params, member);
  if (target === undefined) return { problem: `Invalid params: \`${member}\` must be a string.` };
  const args = params["arguments"] ?? {};
  if (!isJsonObject(args)) return { problem: "Invalid params: `arguments` must be an object." };
  return { target };
}

function completionTarget(params: JsonObject): ReadTarget {
  const { ref, argument, context } = params;
  const target = isJsonObject(ref) ? referenceTarget(ref) : undefined;
  if (target === undefined)
    return { problem: 'Invalid params: `ref` must be `{type: "ref/prompt", name}` or `{type: "ref/resource", uri}`.' };
  const isArgument =
    isJsonObject(argument) && typeof argument["name"] === "string" && typeof argument["value"] === "string";
  if (!isArgument) return { problem: "Invalid params: `argument` must be `{name, value}`, both strings." };
  if (!isJsonObject(context ?? {})) return { problem: "Invalid params: `context` must be an object." };
  return { target };
}

function referenceTarget(ref: JsonObject): string | undefined {
  if (ref["type"] === "ref/prompt") return stringMember(ref, "name");
  return ref["type"] === "ref/resource" ? stringMember(ref, "uri") : undefined;
}
