import type { Tracing } from "../../core/ports/tracing.ts";
import type { Call, CallMethod } from "../../core/calls/call.ts";
import { nextCallId } from "../../core/calls/call-id.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import type { HubPort, ListKind, RenderedList, View } from "../../core/ports/hub-port.ts";
import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { RPC } from "../../wire/messages.ts";
import type { CallerLink } from "../../core/calls/caller-link.ts";
import { BuiltCall } from "../../core/calls/built-call.ts";
import { errorAnswer, resultAnswer, type McpAnswer } from "./answers.ts";
import { failureAnswer, internalAnswer, type FailureRules } from "./failures.ts";
import { pageOf } from "./paging.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Dependencies of the methods of both eras. */
export interface MethodsDeps {
  readonly hub: HubPort;
  readonly logger: Logger;
  /** @default requests are not recorded */
  readonly tracing?: Tracing | undefined;
  /** Number of entries in one page of a list. Absent: lists are never split. */
  readonly pageSize?: number;
}

/** Differences between revisions in the results of the shared methods. */
export interface MethodCodec extends FailureRules {
  /** Returns the list in the form of this revision. Must return the same object for the same list. */
  list(kind: ListKind, list: RenderedList): RenderedList;
  /** Returns a result in the form of this revision: a successful one, or a tool's own `isError` result. */
  result(method: CallMethod, target: string, result: JsonObject): JsonObject;
}

export interface MethodRequest {
  readonly method: string;
  /** Parameters exactly as received. `{}` if there were none. */
  readonly params: JsonObject;
  /** The caller's `_meta` without the era's envelope and without `progressToken`. */
  readonly meta: JsonObject;
}

export interface MethodContext {
  readonly deps: MethodsDeps;
  readonly view: View;
  readonly link: CallerLink;
  readonly codec: MethodCodec;
}

/** Kind of a list, and the member of its results that contains the entries. */
interface ListMember {
  readonly kind: ListKind;
  readonly member: string;
}

const LISTS: ReadonlyMap<string, ListMember> = new Map<string, ListMember>([
  ["tools/list", { kind: "tools", member: "tools" }],
  ["resources/list", { kind: "resources", member: "resources" }],
  ["resources/templates/list", { kind: "templates", member: "resourceTemplates" }],
  ["prompts/list", { kind: "prompts", member: "prompts" }],
]);

/** Returns the target of a call from its parameters, or the problem in one sentence. */
type TargetReader = (params: JsonObject) => { readonly target: string } | { readonly problem: string };

const CALLS: ReadonlyMap<string, TargetReader> = new Map<CallMethod, TargetReader>([
  ["tools/call", (params) => namedTarget(params, "name")],
  ["prompts/get", (params) => namedTarget(params, "name")],
  ["resources/read", (params) => namedTarget(params, "uri")],
  ["completion/complete", completionTarget],
]);

/** Returns true if `answerMethod` knows the method. */
export function isSharedMethod(method: string): boolean {
  return LISTS.has(method) || CALLS.has(method);
}

export function isListMethod(method: string): boolean {
  return LISTS.has(method);
}

/**
 * Answers the methods that both eras share: lists, `tools/call`, `resources/read`, `prompts/get`,
 * `completion/complete`. Never rejects.
 */
export function answerMethod(request: MethodRequest, context: MethodContext): Promise<McpAnswer> {
  const list = LISTS.get(request.method);
  if (list) return answerList(list, request, context);
  const readTarget = CALLS.get(request.method);
  if (!readTarget)
    return isPassedOn(request.method, context)
      ? answerExtension(request, context)
      : Promise.resolve(methodNotFound(request.method));
  const target = readTarget(request.params);
  if ("problem" in target) return Promise.resolve(errorAnswer(RPC.invalidParams, target.problem));
  return answerCall(target.target, request, context);
}

/** Returns true if a method outside MCP's core is forwarded to the only source of the hub. */
export function isPassedOn(method: string, { deps, view }: Pick<MethodContext, "deps" | "view">): boolean {
  return !isSharedMethod(method) && deps.hub.passesOn(method, view.principal);
}

export function methodNotFound(method: string): McpAnswer {
  return errorAnswer(RPC.methodNotFound, `Method not found: ${firstChars(method, MAX_QUOTED)}`);
}

async function answerList(
  { kind, member }: ListMember,
  request: MethodRequest,
  context: MethodContext,
): Promise<McpAnswer> {
  const { deps, view, codec } = context;
  const cursor = request.params["cursor"] ?? undefined;
  if (cursor !== undefined && typeof cursor !== "string")
    return errorAnswer(RPC.invalidParams, "Invalid params: `cursor` must be a string.");
  try {
    const list = codec.list(kind, await deps.hub.list(kind, view));
    const page = pageOf(list, cursor, deps.pageSize);
    if (page) return { type: "list", kind, list, member, ...page };
    return errorAnswer(
      RPC.invalidParams,
      "Invalid cursor: it does not belong to the current list. Repeat the request without a cursor.",
    );
  } catch (error) {
    return faultAnswer(error, request, deps);
  }
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

function answerCall(target: string, request: MethodRequest, context: MethodContext): Promise<McpAnswer> {
  return answered(buildCall(target, request, context), context);
}

async function answered(call: Call, { deps, codec, link }: MethodContext): Promise<McpAnswer> {
  const { method, target } = call;
  try {
    const outcome = await deps.hub.call(call);
    if (outcome.ok) return resultAnswer(codec.result(method, target, outcome.result));
    const answer = failureAnswer(outcome, { id: call.id, method, target, cancelled: link.cancellation.aborted }, codec);
    return answer.type === "result" && outcome.result
      ? resultAnswer(codec.result(method, target, answer.result))
      : answer;
  } catch (error) {
    if (error instanceof FailError)
      return failureAnswer(error.failure, { id: call.id, method, target, cancelled: link.cancellation.aborted }, codec);
    return faultAnswer(error, { method, callId: call.id }, deps);
  }
}

/** Builds the call. Its method was checked by `answerMethod`. */
function buildCall(target: string, request: MethodRequest, { view, link }: MethodContext): Call {
  const args = request.params["arguments"];
  return new BuiltCall(link, {
    method: request.method as CallMethod,
    target,
    params: otherParams(request.params),
    arguments: isJsonObject(args) ? args : {},
    meta: request.meta,
    principal: view.principal,
    mode: view.mode,
  });
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

function namedTarget(params: JsonObject, member: "name" | "uri"): ReturnType<TargetReader> {
  const target = stringMember(params, member);
  if (target === undefined) return { problem: `Invalid params: \`${member}\` must be a string.` };
  const args = params["arguments"] ?? {};
  if (!isJsonObject(args)) return { problem: "Invalid params: `arguments` must be an object." };
  return { target };
}

function completionTarget(params: JsonObject): ReturnType<TargetReader> {
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

/** Answers an error thrown during a request, which is an internal error: logs it in full and returns its id. */
export function faultAnswer(
  error: unknown,
  { method, callId = nextCallId() }: { readonly method: string; readonly callId?: string },
  { logger }: Pick<MethodsDeps, "logger">,
): McpAnswer {
  logger.error("A request of the MCP endpoint failed because of an internal error.", {
    call: callId,
    method,
    error: messageOf(error),
    ...(error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}),
  });
  return internalAnswer(callId);
}

/** Maximum length in characters of a caller's text that an error quotes. */
const MAX_QUOTED = 200;
