import type { Tracing } from "../../../core/ports/tracing.ts";
import { endRequestSpan, startRequestSpan } from "../request-span.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import { Late } from "../../../core/late.ts";
import { messageOf } from "../../../core/errors.ts";
import { LOCAL_PRINCIPAL, type Principal, type ToolMode, type ToolNameStyle } from "../../../core/calls/call.ts";
import { nextCallId } from "../../../core/calls/call-id.ts";
import type { HubPort, ServerFacts, View } from "../../../core/ports/hub-port.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import { TASK_METHODS, TASKS_EXTENSION, type Tasks } from "../../../core/ports/tasks.ts";
import { permissionOf } from "../../../core/ports/rights.ts";
import type { SourceFeatures } from "../../../core/sources/records.ts";
import type { HubState } from "../../../state/ports/store.ts";
import { rpcError, RPC, type RpcRequest } from "../../../wire/messages.ts";
import { META, MODERN_REVISIONS } from "../../../wire/modern/envelope.ts";
import { internalAnswer, replyText, resultAnswer, splicedReply, type McpAnswer } from "../answers.ts";
import { offeredFeatures, readSettled, serverInfo, withDeclared } from "../capabilities.ts";
import {
  answerList,
  isPassedOn,
  methodNotFound,
  SHARED_METHODS,
  type MethodContext,
  type MethodsDeps,
} from "../methods.ts";
import type { ModernOptions } from "../options.ts";
import { admit, mismatched } from "./admission.ts";
import type { ModernCalls } from "./create-calls.ts";
import { ModernCodec, type CacheScope } from "./codec.ts";
import { AdmittedFacts, type RequestFacts } from "./facts.ts";
import type { Listens } from "./listens.ts";
import type { ModernOutlet } from "./outlet.ts";

export interface ModernDeps {
  readonly hub: HubPort;
  readonly logger: Logger;
  readonly options: ModernOptions;
  readonly pageSize?: number;
  /** Tool mode of requests that select no mode. Answers in another mode are cached only for their caller. */
  readonly defaultMode: ToolMode;
  /**
   * Form of tool names for requests that select no form. Answers in another form are cached only for their caller.
   * @default "mcp"
   */
  readonly toolNames?: ToolNameStyle;
  /** @default requests are not recorded */
  readonly tracing?: Tracing | undefined;
  /** True if tokens distinguish callers, so that one caller's answers must not be cached for others. */
  readonly isGuarded: boolean;
  /** State that this hub shares with other hubs. */
  readonly state: HubState;
  /** Tasks. Absent: the extension is not declared. */
  readonly tasks?: Tasks | undefined;
}

/**
 * Modern era (2026-07-28): each request is independent and names its sender in its envelope. The class does not depend
 * on the transport, which passes messages, an outlet for each, and known facts about the sender.
 */
export class ModernEndpoint {
  readonly #deps: ModernDeps;
  readonly #methods: MethodsDeps;
  readonly #listens: Late<Listens>;
  readonly #calls: Late<ModernCalls>;
  /** Server facts that calls report, or a promise of them during the first read. */
  #facts: ServerFacts | Promise<ServerFacts> | undefined;
  /** Codec of the last request. */
  #codec: KnownCodec | undefined;
  readonly #stop: () => void;

  constructor(deps: ModernDeps) {
    const { hub, logger, options, pageSize } = deps;
    this.#deps = deps;
    this.#methods = { hub, logger, ...(pageSize !== undefined && { pageSize }) };
    this.#listens = new Late(
      async () => new (await import("./listens.ts")).Listens(hub, logger, { ...options, tasks: deps.tasks }),
    );
    this.#calls = new Late(async () => (await import("./create-calls.ts")).createCalls(deps));
    this.#stop = hub.events.listsChanged.on(() => (this.#facts = undefined));
  }

  /** Number of parked calls, and of open `subscriptions/listen` requests. */
  get load(): { readonly parked: number; readonly listening: number } {
    return { parked: this.#calls.made?.coordinator.parked ?? 0, listening: this.#listens.made?.size ?? 0 };
  }

  /**
   * Answers one request. Resolves when the request has ended. Replies once, or not if the caller cancelled. Never
   * rejects.
   */
  async handle(message: RpcRequest, outlet: ModernOutlet, facts: RequestFacts): Promise<void> {
    const admission = admit(message, facts.headers);
    if (!admission.ok) return outlet.reply(stringifyExact(rpcError(message.id, admission.error)), admission.status);
    try {
      const { tracing } = this.#deps;
      const admitted = new AdmittedFacts(facts, admission.envelope, admission.meta);
      await (tracing
        ? this.#traced(message, outlet, { request: admitted, tracing })
        : this.#route(message, outlet, admitted));
    } catch (error) {
      const errorId = nextCallId();
      this.#deps.logger.error("A request of the MCP endpoint failed because of an internal error.", {
        call: errorId,
        method: message.method,
        error: messageOf(error),
        ...(error instanceof Error && error.stack !== undefined && { stack: error.stack }),
      });
      outlet.reply(replyText(message.id, internalAnswer(errorId)) ?? "", 500);
    }
  }

  /**
   * Releases a lasting connection that has ended or whose input has ended. Its `subscriptions/listen` requests end with
   * their results, and its parked calls are cancelled.
   */
  release(connection: string): void {
    this.#listens.whenMade((listens) => listens.finish(connection));
    this.#calls.whenMade(({ coordinator }) => coordinator.release(connection));
  }

  /** Returns true if the call with this id is parked here. */
  holdsCall(id: string): boolean {
    return this.#calls.made?.coordinator.holds(id) === true;
  }

  /** Ends the `subscriptions/listen` requests of callers without a lasting connection with their results. */
  endListens(): void {
    this.#listens.whenMade((listens) => listens.finish(undefined));
  }

  /** Ends all `subscriptions/listen` requests with their results, and cancels parked calls. */
  close(): void {
    this.#listens.whenMade((listens) => listens.close());
    this.#calls.whenMade(({ coordinator, headers }) => {
      coordinator.close();
      headers.close();
    });
    this.#stop();
  }

  /** Answers a request within its server span. */
  async #traced(
    message: RpcRequest,
    outlet: ModernOutlet,
    { request, tracing }: { readonly request: AdmittedFacts; readonly tracing: Tracing },
  ): Promise<void> {
    const { endpoint, envelope } = request;
    const span = startRequestSpan(tracing, message, { endpoint, revision: envelope.protocolVersion });
    if (!span) return this.#route(message, outlet, request);
    request.requestSpan = span;
    request.onAnswer = (answer) => endRequestSpan(span, message, answer);
    try {
      await this.#route(message, outlet, request);
    } finally {
      endRequestSpan(span, message, undefined);
    }
  }

  async #route(message: RpcRequest, outlet: ModernOutlet, request: AdmittedFacts): Promise<void> {
    const { id, method } = message;
    const send: SendAnswer = (answer, extra, given) => {
      if (request.signal.aborted) return;
      // The revision requires a special status for only one error; all other errors are reported in the body only.
      const isMissing = answer.type === "error" && answer.error.code === RPC.missingClientCapability;
      const status = given ?? (isMissing ? 400 : 200);
      request.onAnswer?.(answer);
      const spliced = answer.type === "list" && outlet.replySpliced && splicedReply(id, answer, extra);
      if (spliced) return outlet.replySpliced!(spliced, status);
      const text = replyText(id, answer, extra);
      if (text !== undefined) outlet.reply(text, status, answer.type === "error" ? answer.requiredScopes : undefined);
    };
    const kind = this.#kindOf(method, request);
    if (kind === undefined) return send(methodNotFound(method), undefined, 404);
    if (kind === "discover") return this.#discover(request, send);
    // Only discovery waits until the hub knows its features. Other methods report the facts that are known.
    this.#facts ??= this.#readFacts();
    const facts = this.#facts instanceof Promise ? await this.#facts : this.#facts;
    const codec = this.#codecFor(facts, request);
    if (kind === "listen")
      return (await this.#listens.get()).serve(message, outlet, { facts: request, identity: codec.identity });
    const view: View = { mode: request.mode, principal: request.principal };
    const context: Omit<MethodContext, "link"> = { deps: this.#methods, view, codec };
    if (kind === "list") return sendList(message, { ...context, codec }, send);
    const calls = this.#calls.made ?? (await this.#calls.get());
    const compared = calls.headers.findMismatch(message, view, request.headers);
    const mismatch = compared instanceof Promise ? await compared : compared;
    if (mismatch) return send({ type: "error", error: mismatched(mismatch).error }, undefined, 400);
    const answer =
      kind === "task"
        ? await calls.coordinator.serveTask(message, request)
        : await calls.coordinator.serve(message, { outlet, request }, context);
    send(answer.type === "result" ? resultAnswer(codec.stamp(method, answer.result)) : answer);
  }

  /** Returns the kind of a method, or `undefined` if the hub does not have the method. */
  #kindOf(method: string, { principal, mode }: AdmittedFacts): MethodKind | undefined {
    const kind = METHODS.get(method) ?? "extension";
    const isOwn = kind === "task" ? this.#offersTasks : kind !== "extension";
    return isOwn || isPassedOn(method, { deps: this.#methods, view: { principal, mode } }) ? kind : undefined;
  }

  async #discover(request: RequestFacts, send: SendAnswer): Promise<void> {
    const { hub } = this.#deps;
    const facts = await readSettled(hub, () => hub.facts(request.principal));
    const answer = discovery(facts, offeredFeatures(hub, facts), this.#offersTasks);
    const codec = this.#codecFor(facts, request);
    send(answer, { ...codec.cacheable(facts), _meta: { [META.serverInfo]: serverInfo(facts) } });
  }

  get #offersTasks(): boolean {
    return this.#deps.tasks?.isOffered === true;
  }

  /** Reads the facts. They are cached until a list changes, unless a list changes during the read. */
  #readFacts(): Promise<ServerFacts> {
    const reading: Promise<ServerFacts> = this.#deps.hub.facts(LOCAL_PRINCIPAL, { waits: false }).then(
      (facts) => {
        if (this.#facts === reading) this.#facts = facts;
        return facts;
      },
      (error: unknown) => {
        if (this.#facts === reading) this.#facts = undefined;
        throw error;
      },
    );
    return reading;
  }

  /** Returns the codec. It is cached, because most calls have the same caller and report the same server facts. */
  #codecFor(facts: ServerFacts, request: RequestFacts): ModernCodec {
    const { principal, mode } = request;
    const last = this.#codec?.facts === facts ? this.#codec : undefined;
    if (last?.principal === principal && last.mode === mode) return last.codec;
    const scope = this.#scopeFor(request);
    const codec = last?.scope === scope ? last.codec : new ModernCodec(facts, scope);
    this.#codec = { facts, principal, mode, scope, codec };
    return codec;
  }

  #scopeFor({ principal, mode }: RequestFacts): CacheScope {
    const { isGuarded, defaultMode, toolNames = "mcp" } = this.#deps;
    const isUsual = mode === defaultMode && (principal.toolNames ?? "mcp") === toolNames;
    return isGuarded || permissionOf(principal.rights).isNarrowed || !isUsual ? "private" : "public";
  }
}

async function sendList(
  { method, params = {} }: RpcRequest,
  context: Omit<MethodContext, "link" | "codec"> & { readonly codec: ModernCodec },
  send: SendAnswer,
): Promise<void> {
  const answer = await answerList({ method, params }, context);
  send(answer, context.codec.cacheable(answer.type === "list" ? answer.list : {}));
}

/**
 * Returns the result of `server/discover`. All lists are advertised, since they may get entries later and a stateless
 * caller gets no notification.
 */
function discovery(
  { instructions, capabilities: declared }: ServerFacts,
  features: SourceFeatures,
  offersTasks: boolean,
): McpAnswer {
  const own = {
    tools: { listChanged: true },
    resources: { listChanged: true, ...(features.subscribe && { subscribe: true }) },
    prompts: { listChanged: true },
    ...(features.completions && { completions: {} }),
    ...(features.logging && { logging: {} }),
    ...(offersTasks && { extensions: { [TASKS_EXTENSION]: {} } }),
  };
  return resultAnswer({
    supportedVersions: MODERN_REVISIONS,
    capabilities: withDeclared(own, declared),
    ...(instructions !== undefined && { instructions }),
  });
}

/** Sends the answer of one request. `extra`: members that are added to a result. */
type SendAnswer = (answer: McpAnswer, extra?: JsonObject, status?: number) => void;

/** Codec, and everything on which it depends. */
interface KnownCodec {
  readonly facts: ServerFacts;
  readonly principal: Principal;
  readonly mode: ToolMode;
  readonly scope: CacheScope;
  readonly codec: ModernCodec;
}

/** Kind of a method. `extension`: the hub does not know the method, and passes it on. */
type MethodKind = "list" | "call" | "task" | "discover" | "listen" | "extension";

const METHODS: ReadonlyMap<string, MethodKind> = new Map<string, MethodKind>([
  ...SHARED_METHODS,
  ...Array.from(TASK_METHODS, (method) => [method, "task"] as const),
  ["server/discover", "discover"],
  ["subscriptions/listen", "listen"],
]);
