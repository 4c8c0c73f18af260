import { stringifyExact } from "../../core/json/exact-json.ts";
import { callWithin } from "../../core/calls/call-within.ts";
import { FailError } from "../../core/errors.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { FailKind } from "../../core/calls/kinds.ts";
import type { Models } from "../../core/ports/models.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import { askCaller } from "../../core/calls/request-to-caller.ts";
import type { ToolContext } from "./api.ts";
import type { ModuleObject } from "./module-object.ts";

/** Thrown to a handler if a tool that it called, or a resource that it read, failed. */
export class ToolCallError extends Error {
  override readonly name = "ToolCallError";
  readonly kind: FailKind;

  constructor(kind: FailKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface ContextDeps {
  readonly innerHub: InnerHub;
  readonly models: Models;
}

interface Round {
  /** Members of `params` with the answers to the previous round, if there was one. */
  readonly extra: JsonObject;
  /** True if the handler declares the parameter for the context. */
  readonly isAwaited: boolean;
}

/** Creates the context of a handler's call. */
export function createContext(
  call: ResolvedCall,
  { innerHub, models }: ContextDeps,
  { extra, isAwaited }: Round,
): ToolContext {
  const context = new ToolCallContext(call, extra, {
    log: (level, data, logger) => log(call, level, { logger, data }),
    progress: (progress, total, message) => sendProgress(call, { progress, total, message }),
    ask: (method, askParams = {}, options = {}) => askCaller(call, { method, params: askParams }, options.signal),
    call: async (tool, args = {}, { signal } = {}) =>
      resultOf(await innerHub.call({ tool, arguments: args }, signal ? callWithin(call, signal) : call)),
    read: async (uri, { signal } = {}) => resultOf(await innerHub.read(uri, signal ? callWithin(call, signal) : call)),
    search: (query, { limit = DEFAULT_HITS } = {}) => innerHub.search(query, call, { limit }),
    list: () => innerHub.list(call),
    generateText: (request) => models.generateText?.(request, call.signal) ?? noModel("language model"),
    generateImage: (request) => models.generateImage?.(request, call.signal) ?? noModel("image model"),
  });
  // Created only if the handler declares the context parameter, because a signal is expensive on Node 20. It is a
  // member of the object itself, so that handlers can copy or wrap the context.
  if (isAwaited) Object.defineProperty(context, "signal", { value: call.signal, enumerable: true });
  return context;
}

type Abilities = Pick<
  ToolContext,
  "log" | "progress" | "ask" | "call" | "read" | "search" | "list" | "generateText" | "generateImage"
>;

/**
 * A class, because it has an accessor (see `BuiltCall`). The functions are members, so that a handler may destructure
 * them. They are created outside the constructor, because on Node 20 closures created inside it stay in memory, with
 * everything that they reference, until a full garbage collection.
 */
class ToolCallContext implements ToolContext {
  readonly principal: string;
  readonly client: ToolContext["client"];
  readonly meta: JsonObject;
  declare readonly inputResponses?: JsonObject;
  declare readonly requestState?: string;
  readonly log: Abilities["log"];
  readonly progress: Abilities["progress"];
  readonly ask: Abilities["ask"];
  readonly call: Abilities["call"];
  readonly read: Abilities["read"];
  readonly search: Abilities["search"];
  readonly list: Abilities["list"];
  readonly generateText: Abilities["generateText"];
  readonly generateImage: Abilities["generateImage"];
  readonly #call: ResolvedCall;

  constructor(call: ResolvedCall, extra: JsonObject, abilities: Abilities) {
    this.#call = call;
    this.principal = call.principal.id;
    this.client = clientOf(call);
    this.meta = call.meta;
    const inputResponses = extra["inputResponses"] ?? call.params["inputResponses"];
    if (isJsonObject(inputResponses)) this.inputResponses = inputResponses;
    const requestState = extra["requestState"] ?? call.params["requestState"];
    if (typeof requestState === "string") this.requestState = requestState;
    this.log = abilities.log;
    this.progress = abilities.progress;
    this.ask = abilities.ask;
    this.call = abilities.call;
    this.read = abilities.read;
    this.search = abilities.search;
    this.list = abilities.list;
    this.generateText = abilities.generateText;
    this.generateImage = abilities.generateImage;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}

function clientOf({ client: { name, version, capabilities } }: ResolvedCall): ToolContext["client"] {
  const client: { name?: string; version?: string; capabilities: JsonObject } = { capabilities };
  if (name !== undefined) client.name = name;
  if (version !== undefined) client.version = version;
  return client;
}

const DEFAULT_HITS = 5;

function noModel(what: string): Promise<never> {
  return Promise.reject(
    new ToolCallError("unavailable", `No ${what} is configured, so nothing was generated. Configure one in [models].`),
  );
}

function log(
  call: ResolvedCall,
  level: string,
  { logger, data }: { readonly logger: string | undefined; readonly data: unknown },
): void {
  if (call.wants.logLevel === undefined) return;
  call.notify({
    method: "notifications/message",
    params: { level, ...(logger === undefined ? {} : { logger }), data: data ?? null },
  });
}

function sendProgress(
  call: ResolvedCall,
  step: { progress: number; total: number | undefined; message: string | undefined },
): void {
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

/** Returns the message of a thrown value for the caller, without a stack. */
export function wordsOf(error: unknown): string {
  if (error instanceof FailError) return error.failure.message;
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return typeof error === "string" ? error : (stringifyExact(error) ?? String(error));
}
