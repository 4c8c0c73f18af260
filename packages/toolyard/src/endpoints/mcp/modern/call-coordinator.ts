import { stringifyExact } from "../../../core/json/exact-json.ts";
import { callerKey } from "../../../core/ports/profiles.ts";
import type { Cancellation } from "../../../core/calls/cancellation.ts";
import type { Client } from "../../../core/calls/call.ts";
import { FailError } from "../../../core/errors.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import { fail } from "../../../core/calls/outcome.ts";
import type { TaskPlan } from "../../../core/calls/task-offer.ts";
import { hasTasksExtension, type Tasks } from "../../../core/ports/tasks.ts";
import type { HubState } from "../../../state/ports/store.ts";
import { isRequestId, RPC, type RequestId, type RpcRequest } from "../../../wire/messages.ts";
import { errorAnswer, resultAnswer, SILENCE, type McpAnswer } from "../answers.ts";
import { answerCall } from "../call-methods.ts";
import type { MethodContext } from "../methods.ts";
import { holderIn, type AdmittedFacts } from "./facts.ts";
import { inputProblem, relayProblem } from "./input-requests.ts";
import type { ModernOutlet } from "./outlet.ts";
import { ParkedCalls, type ParkingOptions } from "./parked-calls.ts";
import { isOwnState, unwrapRelayed, wrapRelayed, type Binding } from "./request-state.ts";
import { RunningCall, type Visit } from "./running-call.ts";
import { answerTaskMethod, createdTask } from "./task-methods.ts";

type ModernCallContext = Omit<MethodContext, "link">;

interface Visiting {
  readonly message: RpcRequest;
  readonly visit: RequestVisit;
}

interface CallerBack extends Visiting {
  readonly state: string;
}

/** Serves calls that take several requests, because the caller answers server requests by repeating the call. */
export class CallCoordinator {
  readonly #parked: ParkedCalls;

  readonly #tasks: Tasks | undefined;

  /** `tasks` is absent if no call may become a task. */
  constructor(options: ParkingOptions, state: HubState, tasks?: Tasks) {
    this.#parked = new ParkedCalls(options, state);
    this.#tasks = tasks;
  }

  get parked(): number {
    return this.#parked.size;
  }

  /** Returns the answer to this request: the call's answer, or `input_required` with the call's server requests. */
  serve(
    message: RpcRequest,
    { outlet, request }: { readonly outlet: ModernOutlet; readonly request: AdmittedFacts },
    context: ModernCallContext,
  ): McpAnswer | Promise<McpAnswer> {
    const { method, params = {} } = message;
    const { inputResponses, requestState: state } = params;
    const visit = new RequestVisit(method, outlet, request);
    // The first request of a call has neither.
    if (inputResponses === undefined && state === undefined)
      return this.#visit(this.#begin(message, visit, context), { message, visit });
    const problem = inputProblem(params);
    if (problem !== undefined) return errorAnswer(RPC.invalidParams, `Invalid params: ${problem}.`);
    if (!isOwnState(state)) return this.#visit(this.#begin(message, visit, context), { message, visit });
    return this.#goOn(objectMember(params, "inputResponses") ?? {}, { state, message, visit });
  }

  /** Answers a method of the extension tasks. */
  serveTask({ method, params = {} }: RpcRequest, request: AdmittedFacts): Promise<McpAnswer> {
    return answerTaskMethod({ method, params }, request, this.#tasks);
  }

  /** Continues a parked call with the answers of the caller. */
  async #goOn(responses: JsonObject, { state, ...visiting }: CallerBack): Promise<McpAnswer> {
    const taken = await this.#parked.take(state, bindingOf(visiting));
    if (taken.type !== "here") return taken.type === "elsewhere" ? HELD_ELSEWHERE : INVALID_STATE;
    taken.call.respond(responses);
    return this.#visit(taken.call, visiting);
  }

  /** Returns true if the call with this id is parked here. */
  holds(id: string): boolean {
    return this.#parked.has(id);
  }

  release(connection: string): void {
    this.#parked.release(connection);
  }

  close(): void {
    this.#parked.close();
  }

  #begin({ method, params = {} }: RpcRequest, visit: RequestVisit, context: ModernCallContext): RunningCall {
    const { request } = visit;
    const call = new RunningCall(clientOf(request), visit, {
      relaysInput: RELAYING_METHODS.has(method),
      offersTask:
        method === "tools/call" &&
        hasTasksExtension(request.envelope.clientCapabilities) &&
        this.#tasks?.isOffered === true,
    });
    const meta = "progressToken" in request.meta ? withoutToken(request.meta) : request.meta;
    const state = params["requestState"];
    const sent = typeof state === "string" ? { ...params, requestState: unwrapRelayed(state) } : params;
    void answerCall(
      { method, params: sent, meta },
      { deps: context.deps, view: context.view, codec: context.codec, link: call },
    ).then((answer) => {
      const isRelayed = answer.type === "result" && answer.result["resultType"] === "input_required";
      call.settle(isRelayed ? this.#relayed(answer, request, method) : answer);
    });
    return call;
  }

  async #visit(call: RunningCall, { message, visit }: Visiting): Promise<McpAnswer> {
    for (;;) {
      const end = await call.take(visit);
      if (end.type === "answer") return end.answer;
      if (visit.signal.aborted) return SILENCE;
      if (end.type === "task") {
        const answer = await this.#toTask(call, end.plan, { message, visit });
        if (answer) return answer;
        call.refuseTask();
        continue;
      }
      const holder = holderIn(visit.request);
      if (this.#parked.hasRoomFor(holder)) {
        const requestState = await this.#parked.park(call, bindingOf({ message, visit }), holder);
        return resultAnswer({ resultType: "input_required", inputRequests: end.inputRequests, requestState });
      }
      call.refuseQuestions(
        new FailError(
          fail("limited", "The caller cannot be asked now: too many calls wait for input already. Try again later."),
        ),
      );
    }
  }

  /** Stores the call as a task. Returns `undefined` if its caller has too many unfinished tasks. */
  async #toTask(
    call: RunningCall,
    { isIdempotent }: TaskPlan,
    { message: { params = {} }, visit: { request } }: Pick<Visiting, "message" | "visit">,
  ): Promise<McpAnswer | undefined> {
    await this.#tasks?.ready();
    if (this.#tasks?.hasRoomFor(request.principal) !== true) return undefined;
    const args = params["arguments"];
    try {
      const task = await this.#tasks.create(
        {
          principal: request.principal,
          endpoint: request.endpoint,
          tool: stringMember(params, "name") ?? "",
          arguments: isJsonObject(args) ? args : {},
          isIdempotent,
          upstream: call.upstream,
          meta: request.requestSpan ? request.requestSpan.contextIn(request.meta) : request.meta,
        },
        call,
      );
      return resultAnswer(createdTask(task));
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      // Only the store knows the tasks of the other hubs.
      if (error.failure.kind === "limited") return undefined;
      return errorAnswer(RPC.internal, error.failure.message);
    }
  }

  /**
   * Passes a source's own `input_required` to the caller unchanged, if the caller supports the server requests in it.
   */
  #relayed(answer: McpAnswer & { readonly type: "result" }, request: AdmittedFacts, method: string): McpAnswer {
    if (!RELAYING_METHODS.has(method))
      return errorAnswer(RPC.internal, `The source asked for input, which \`${method}\` cannot carry.`);
    const error = relayProblem(answer.result, request.envelope.clientCapabilities);
    if (error) return { type: "error", error };
    const state = answer.result["requestState"];
    return typeof state === "string" ? resultAnswer({ ...answer.result, requestState: wrapRelayed(state) }) : answer;
  }
}

const INVALID_STATE = errorAnswer(RPC.invalidParams, "Invalid or expired requestState", {
  reason: "invalid_request_state",
});
const HELD_ELSEWHERE = errorAnswer(
  RPC.invalidParams,
  "Another hub holds the call of this requestState. Send the retry to the hub that asked for input.",
  { reason: "held_elsewhere" },
);

/** Methods with an answer that may be `input_required`. */
const RELAYING_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/**
 * A class, because an object literal with a function stays in memory until a full garbage collection, together with the
 * call that it references.
 */
class RequestVisit implements Visit {
  readonly request: AdmittedFacts;
  readonly endpoint: string;
  readonly signal: Cancellation;
  readonly capabilities: JsonObject;
  readonly progressToken: RequestId | undefined;
  readonly logLevel: string | undefined;
  readonly requestSpan: AdmittedFacts["requestSpan"];
  readonly #outlet: ModernOutlet;

  constructor(method: string, outlet: ModernOutlet, request: AdmittedFacts) {
    const { signal, envelope, meta } = request;
    const token = meta["progressToken"];
    this.#outlet = outlet;
    this.request = request;
    this.endpoint = request.endpoint;
    this.signal = signal;
    this.capabilities = RELAYING_METHODS.has(method) ? envelope.clientCapabilities : {};
    this.progressToken = isRequestId(token) ? token : undefined;
    this.logLevel = envelope.logLevel;
    this.requestSpan = request.requestSpan;
  }

  note(method: string, params: JsonObject): void {
    this.#outlet.note(stringifyExact({ jsonrpc: "2.0", method, params }));
  }
}

function withoutToken(meta: JsonObject): JsonObject {
  const { progressToken: _, ...others } = meta;
  return others;
}

function bindingOf({ message: { method, params = {} }, visit: { request } }: Visiting): Binding {
  return {
    principal: callerKey(request.principal),
    method,
    target: String(params["name"] ?? params["uri"]),
    arguments: params["arguments"] ?? {},
  };
}

function clientOf({ connection, envelope }: AdmittedFacts): Client {
  const { clientInfo, clientCapabilities: capabilities } = envelope;
  const client: { -readonly [K in keyof Client]: Client[K] } = { era: "modern", capabilities };
  if (connection !== undefined) client.connection = connection;
  const name = clientInfo && stringMember(clientInfo, "name");
  const version = clientInfo && stringMember(clientInfo, "version");
  if (name !== undefined) client.name = name;
  if (version !== undefined) client.version = version;
  return client;
}
