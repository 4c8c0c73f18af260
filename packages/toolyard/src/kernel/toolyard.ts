import { BuiltCall } from "../core/calls/built-call.ts";
import { nextCallId } from "../core/calls/call-id.ts";
import {
  type ServerRequest,
  type Call,
  LOCAL_PRINCIPAL,
  type CallNotification,
  type Principal,
  type ToolMode,
} from "../core/calls/call.ts";
import type { CallerLink } from "../core/calls/caller-link.ts";
import { Deadline } from "../core/calls/deadline.ts";
import { FailError } from "../core/errors.ts";
import type { HubPort, ListKind, ServerFacts, SourceReport, View } from "../core/ports/hub-port.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Models } from "../core/ports/models.ts";
import { fail, type Outcome } from "../core/calls/outcome.ts";
import type {
  CompletionResult,
  ListedPrompt,
  ListedResource,
  ListedTemplate,
  ListedTool,
  PromptResult,
  ReadResult,
  ToolResult,
} from "../core/calls/results.ts";
import type { SearchAnswer, SearchFilter } from "../core/ports/ports.ts";
import type { ToolFinder } from "../core/services.ts";
import { isFor } from "../core/sources/provider.ts";
import { reachesLevel } from "../wire/log-level.ts";

/** Options of one call. */
export interface CallOptions {
  /** Signal that cancels the call. The outcome is then `cancelled`. */
  readonly signal?: AbortSignal;
  /**
   * Called with progress (`notifications/progress`) and log messages (`notifications/message`) of the running call.
   */
  readonly onNotice?: (notification: CallNotification) => void;
  /**
   * Answers elicitation, sampling and roots. Without it, these server requests are refused. The supported requests must
   * be declared in `capabilities`.
   */
  readonly onAsk?: (ask: ServerRequest, signal: AbortSignal) => Promise<JsonObject>;
  /** Capabilities in the form of MCP: `{elicitation: {}, sampling: {}, roots: {}}`. @default {} */
  readonly capabilities?: JsonObject;
  /** `_meta` that the tool or server receives. */
  readonly meta?: JsonObject;
  /** Maximum duration of the call in milliseconds. The hub's own limits also apply. @default none */
  readonly timeoutMs?: number;
  /** Maximum time in milliseconds without activity of the call; progress resets it. @default none */
  readonly idleTimeoutMs?: number;
  /** Lowest level of log messages to receive. @default none: no log messages */
  readonly logLevel?: string;
  /** Models that tools use instead of the configured ones. @default none */
  readonly models?: Models;
}

export interface ListOptions {
  /** Tool mode of the list. @default "normal" */
  readonly mode?: ToolMode;
}

/**
 * Hub as a program uses it, returned by `createHub`. Expected failures are outcomes and not exceptions.
 *
 * @example
 *
 * ```ts
 * import { createHub, type Toolyard } from "toolyard";
 *
 * async function printTools(hub: Toolyard): Promise<void> {
 *   for (const { name, description } of await hub.list()) console.log(name, description);
 * }
 *
 * await using hub = await createHub();
 * await printTools(hub);
 * ```
 */
export interface Toolyard {
  /** Returns the tools of a view, in the form of `tools/list`. */
  list(options?: ListOptions): Promise<readonly ListedTool[]>;
  listResources(): Promise<readonly ListedResource[]>;
  listResourceTemplates(): Promise<readonly ListedTemplate[]>;
  listPrompts(): Promise<readonly ListedPrompt[]>;
  /**
   * Returns the best tools for a query, the best first. An empty query lists all tools by name. @param limit 1 to 100,
   * default 5
   */
  search(query: string, limit?: number, filter?: SearchFilter): Promise<SearchAnswer>;
  /** Calls a tool by any spelling of its name. */
  call(tool: string, args?: JsonObject, options?: CallOptions): Promise<Outcome<ToolResult>>;
  /** Reads a resource by its URI. */
  read(uri: string, options?: CallOptions): Promise<Outcome<ReadResult>>;
  /** Gets a prompt with its arguments filled in. */
  prompt(name: string, args?: JsonObject, options?: CallOptions): Promise<Outcome<PromptResult>>;
  /** Completes an argument of a prompt or of a resource template. */
  complete(
    ref: JsonObject,
    argument: { readonly name: string; readonly value: string },
    context?: JsonObject,
  ): Promise<Outcome<CompletionResult>>;
  /**
   * Calls `listener` when the content of `uri` changes, until the returned function is called. Rejects with a
   * `FailError` if changes cannot be observed.
   */
  subscribe(uri: string, listener: (uri: string) => void): Promise<() => Promise<void>>;
  facts(): Promise<ServerFacts>;
  sources(): readonly SourceReport[];
  /** Interface that endpoints use. */
  readonly port: HubPort;
  close(): Promise<void>;
}

/** Parts of a hub from which its library interface is built. */
export interface ToolyardBase {
  readonly port: HubPort;
  readonly tools: Pick<ToolFinder, "search">;
  close(): Promise<void>;
}

export interface ProgramIdentity {
  readonly endpoint: string;
  readonly principal?: Principal;
  readonly clientName?: string;
  readonly clientVersion?: string;
}

export function toolyardOf(
  base: ToolyardBase,
  { endpoint, principal = LOCAL_PRINCIPAL, clientName, clientVersion }: ProgramIdentity,
): Toolyard {
  const { port } = base;
  const connection = `${endpoint}:${nextCallId()}`;
  const program: Program = {
    endpoint,
    principal,
    client: {
      connection,
      ...(clientName === undefined ? {} : { name: clientName }),
      ...(clientVersion === undefined ? {} : { version: clientVersion }),
    },
  };
  const view = (mode: ToolMode): View => ({ mode, principal });
  // The type assertion is safe: the catalog has checked all definitions, and the pipeline checks all results.
  const entries = async <Entry extends JsonObject>(kind: ListKind, mode: ToolMode = "normal") =>
    (await port.list(kind, view(mode))).entries as readonly Entry[];
  const call = <Result extends JsonObject>(wanted: ToolyardCall, options: CallOptions = {}) =>
    inTime(options, (deadline) => {
      const asked = { ...NOTHING_ELSE, ...wanted, meta: options.meta ?? {}, principal };
      const { models } = options;
      const made = new BuiltCall(linkTo(program, options, deadline), asked, models && { models });
      return port.call(made) as Promise<Outcome<Result>>;
    });
  return {
    port,
    list: ({ mode = "normal" } = {}) => entries("tools", mode),
    listResources: () => entries("resources"),
    listResourceTemplates: () => entries("templates"),
    listPrompts: () => entries("prompts"),
    search: (query, limit = 5, filter) => base.tools.search(query, view("all"), { ...filter, limit }),
    call: (tool, args = {}, options) => call({ method: "tools/call", target: tool, arguments: args }, options),
    read: (uri, options) => call({ method: "resources/read", target: uri }, options),
    prompt: (name, args = {}, options) => call({ method: "prompts/get", target: name, arguments: args }, options),
    complete: (ref, argument, context) =>
      call({
        method: "completion/complete",
        target: String(ref["name"] ?? ref["uri"] ?? ""),
        params: { ref, argument, ...(context ? { context } : {}) },
      }),
    subscribe: (uri, listener) =>
      subscribe(port, { uri, listener }, { principal, client: { ...program.client, capabilities: {} } }),
    facts: () => port.facts(principal),
    sources: () => port.sources(),
    close: async () => {
      port.release(connection);
      await base.close();
    },
  };
}

/** The program as the caller of its hub. Each call declares which server requests the program can answer. */
interface Program extends Pick<Call, "endpoint" | "principal"> {
  readonly client: Omit<Call["client"], "capabilities">;
}

async function inTime<T>(
  { timeoutMs = Infinity, idleTimeoutMs = Infinity }: CallOptions,
  run: (deadline: Deadline | undefined) => Promise<T>,
): Promise<T> {
  const idleMs = Math.min(timeoutMs, idleTimeoutMs);
  const deadline = idleMs < Infinity ? new Deadline({ idleMs, totalMs: timeoutMs }) : undefined;
  try {
    return await run(deadline);
  } finally {
    deadline?.clear();
  }
}

type ToolyardCall = Pick<Call, "method" | "target"> & Partial<Pick<Call, "arguments" | "params">>;
const NOTHING_ELSE = Object.freeze({ arguments: {}, params: {}, mode: "all" as const });

function linkTo({ endpoint, client }: Program, options: CallOptions, deadline: Deadline | undefined): CallerLink {
  const signal = options.signal ?? new AbortController().signal;
  return {
    endpoint,
    client: { ...client, capabilities: options.capabilities ?? {} },
    signal,
    cancellation: signal,
    ...(deadline ? { deadline } : {}),
    wants: {
      progress: options.onNotice !== undefined,
      ...(options.logLevel === undefined ? {} : { logLevel: options.logLevel }),
    },
    relaysInput: false,
    notify: (notification) => {
      if (isRequested(notification, options)) options.onNotice?.(notification);
    },
    ask: (ask, askSignal) => answerAsk(ask, options, askSignal ?? signal),
  };
}

async function subscribe(
  port: HubPort,
  { uri, listener }: { readonly uri: string; readonly listener: (uri: string) => void },
  caller: Pick<Call, "principal" | "client">,
): Promise<() => Promise<void>> {
  const off = port.events.resourceUpdated.on((event) => {
    if (event.uri === uri && isFor(event, caller.principal)) listener(uri);
  });
  try {
    const unsubscribe = await port.subscribe(uri, caller);
    return async () => {
      off();
      await unsubscribe();
    };
  } catch (error) {
    off();
    throw error;
  }
}

// Log messages are filtered, because a tool may send messages below the requested level.
function isRequested({ method, params }: CallNotification, { logLevel }: CallOptions): boolean {
  return method !== "notifications/message" || (logLevel !== undefined && reachesLevel(params["level"], logLevel));
}

async function answerAsk(ask: ServerRequest, options: CallOptions, signal: AbortSignal): Promise<JsonObject> {
  if (options.onAsk) return options.onAsk({ method: ask.method, params: ask.params }, signal);
  throw new FailError(
    fail("tool_error", `The caller was asked (${ask.method}) and cannot answer: this program gave no \`onAsk\`.`),
  );
}
