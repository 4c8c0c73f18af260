import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { isJsonObject, stringMember } from "../../core/json.ts";
import type { FailKind } from "../../core/kinds.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Caller, Models } from "../../core/ports.ts";
import type { ResolvedCall } from "../../core/provider.ts";
import { askCaller } from "../../upstream/asks.ts";
import type { ModuleObject, ToolContext } from "./api.ts";

/** A tool that a handler called did not succeed. */
export class ToolCallError extends Error {
  override readonly name = "ToolCallError";
  readonly kind: FailKind;

  constructor(kind: FailKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface ContextDeps {
  readonly caller: Caller;
  readonly models: Models;
}

/** What a handler gets along with its arguments. `extra` holds the answers of the round before, where there was one. */
export function createContext(call: ResolvedCall, { caller, models }: ContextDeps, extra: JsonObject): ToolContext {
  const params = { ...call.params, ...extra };
  const inputResponses = params["inputResponses"];
  const requestState = stringMember(params, "requestState");
  const { name, version, capabilities } = call.client;
  return {
    get signal() {
      return call.signal;
    },
    principal: call.principal.id,
    client: { ...(name === undefined ? {} : { name }), ...(version === undefined ? {} : { version }), capabilities },
    meta: call.meta,
    ...(isJsonObject(inputResponses) ? { inputResponses } : {}),
    ...(requestState === undefined ? {} : { requestState }),
    log: (level, data, logger) => log(call, level, data, logger),
    progress: (progress, total, message) => sendProgress(call, { progress, total, message }),
    ask: (method, askParams = {}, options = {}) => askCaller(call, { method, params: askParams }, options.signal),
    call: async (tool, args = {}, { signal } = {}) => resultOf(await caller.call(tool, args, signal ? withSignal(call, signal) : call)),
    search: (query, { limit = DEFAULT_HITS } = {}) => caller.search(query, limit, call),
    list: () => caller.list(call),
    generateText: (request) => models.generateText?.(request, call.signal) ?? noModel("language model"),
    generateImage: (request) => models.generateImage?.(request, call.signal) ?? noModel("image model"),
  };
}

const DEFAULT_HITS = 5;

function withSignal(call: ResolvedCall, signal: AbortSignal): ResolvedCall {
  const { cancellation: _, ...rest } = call;
  return { ...rest, signal: AbortSignal.any([call.signal, signal]), notify: (notice) => call.notify(notice), ask: (ask, until) => call.ask(ask, until) };
}

function noModel(what: string): Promise<never> {
  return Promise.reject(new ToolCallError("unavailable", `No ${what} is configured, so nothing was generated. Configure one in [models].`));
}

function log(call: ResolvedCall, level: string, data: unknown, logger: string | undefined): void {
  if (call.wants.logLevel === undefined) return;
  call.notify({ method: "notifications/message", params: { level, ...(logger === undefined ? {} : { logger }), data: data ?? null } });
}

function sendProgress(call: ResolvedCall, step: { progress: number; total: number | undefined; message: string | undefined }): void {
  call.deadline?.touch();
  if (!call.wants.progress) return;
  const { progress, total, message } = step;
  const params = { progress, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) };
  call.notify({ method: "notifications/progress", params });
}

function resultOf(outcome: Outcome): ModuleObject {
  if (outcome.ok) return outcome.result;
  throw new ToolCallError(outcome.kind, outcome.message);
}

/** The words of what a handler threw, for its caller: no stack. */
export function wordsOf(error: unknown): string {
  if (error instanceof FailError) return error.failure.message;
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return typeof error === "string" ? error : (JSON.stringify(error) ?? String(error));
}
