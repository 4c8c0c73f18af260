import type { Tracing } from "../../core/ports/tracing.ts";
import type { CallMethod } from "../../core/calls/call.ts";
import { nextCallId } from "../../core/calls/call-id.ts";
import { messageOf } from "../../core/errors.ts";
import type { HubPort, ListKind, RenderedList, View } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { RPC } from "../../wire/messages.ts";
import type { CallerLink } from "../../core/calls/caller-link.ts";
import { errorAnswer, internalAnswer, type McpAnswer } from "./answers.ts";
import type { FailureRules } from "./failures.ts";
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
  /**
   * Returns a result in the form of this revision: a successful one, or a tool's own `isError` result. @default results
   * are passed on unchanged
   */
  result?(method: CallMethod, target: string, result: JsonObject): JsonObject;
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

const CALLS: readonly CallMethod[] = ["tools/call", "prompts/get", "resources/read", "completion/complete"];

/** Methods of both eras. */
export const SHARED_METHODS: ReadonlyMap<string, "list" | "call"> = new Map([
  ...Array.from(LISTS.keys(), (method) => [method, "list"] as const),
  ...CALLS.map((method) => [method, "call"] as const),
]);

/** Returns true if a method outside MCP's core is forwarded to the only source of the hub. */
export function isPassedOn(method: string, { deps, view }: Pick<MethodContext, "deps" | "view">): boolean {
  return !SHARED_METHODS.has(method) && deps.hub.passesOn(method, view.principal);
}

export function methodNotFound(method: string): McpAnswer {
  return errorAnswer(RPC.methodNotFound, `Method not found: ${firstChars(method, MAX_QUOTED)}`);
}

/** Answers a list method of `SHARED_METHODS`. Never rejects. */
export async function answerList(
  request: Pick<MethodRequest, "method" | "params">,
  { deps, view, codec }: Omit<MethodContext, "link">,
): Promise<McpAnswer> {
  const { kind, member } = LISTS.get(request.method)!;
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
