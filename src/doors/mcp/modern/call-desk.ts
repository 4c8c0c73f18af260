import type { Client } from "../../../core/call.ts";
import { FailError } from "../../../core/errors.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json.ts";
import { fail } from "../../../core/outcome.ts";
import type { HubState } from "../../../state/ports/store.ts";
import { RPC, type RpcRequest } from "../../../wire/messages.ts";
import { errorAnswer, resultAnswer, SILENCE, type Answer } from "../answers.ts";
import { answerMethod, type MethodContext } from "../methods.ts";
import { holderIn, type AdmittedFacts } from "./facts.ts";
import { inputProblem, relayProblem } from "./input-requests.ts";
import type { ModernOutlet } from "./outlet.ts";
import { ParkedCalls, type ParkingOptions } from "./parked-calls.ts";
import { isOwnState, unwrapRelayed, wrapRelayed, type Binding } from "./request-state.ts";
import { RunningCall, type Visit } from "./running-call.ts";

type CallContext = Omit<MethodContext, "link">;

/** Serves calls, over as many requests as their questions to the caller take. */
export class CallDesk {
  readonly #parked: ParkedCalls;

  constructor(options: ParkingOptions, state: HubState) {
    this.#parked = new ParkedCalls(options, state);
  }

  get parked(): number {
    return this.#parked.size;
  }

  /** What to answer to this request: the call's answer, or `input_required` with what the call wants to know. */
  async serve(
    message: RpcRequest,
    outlet: ModernOutlet,
    request: AdmittedFacts,
    context: CallContext,
  ): Promise<Answer> {
    const params = message.params ?? {};
    const problem = inputProblem(params);
    if (problem !== undefined) return errorAnswer(RPC.invalidParams, `Invalid params: ${problem}.`);
    const visit = visitOf(outlet, request, RELAYING_METHODS.has(message.method));
    const binding = bindingOf(message, request);
    const state = params["requestState"];
    if (!isOwnState(state)) return this.#turn(this.#begin(message, visit, request, context), visit, binding, request);
    const taken = await this.#parked.take(state, binding);
    if (taken.type !== "here") return taken.type === "elsewhere" ? HELD_ELSEWHERE : INVALID_STATE;
    taken.call.respond(objectMember(params, "inputResponses") ?? {});
    return this.#turn(taken.call, visit, binding, request);
  }

  release(connection: string): void {
    this.#parked.release(connection);
  }

  close(): void {
    this.#parked.close();
  }

  #begin({ method, params = {} }: RpcRequest, visit: Visit, request: AdmittedFacts, context: CallContext): RunningCall {
    const call = new RunningCall(request.door, clientOf(request), visit, RELAYING_METHODS.has(method));
    const { progressToken: _, ...meta } = request.meta;
    const state = params["requestState"];
    const sent = typeof state === "string" ? { ...params, requestState: unwrapRelayed(state) } : params;
    void answerMethod({ method, params: sent, meta }, { ...context, link: call }).then((answer) =>
      call.settle(this.#relayed(answer, request, method)),
    );
    return call;
  }

  async #turn(call: RunningCall, visit: Visit, binding: Binding, request: AdmittedFacts): Promise<Answer> {
    for (;;) {
      const turn = await call.turn(visit);
      if (turn.type === "answer") return turn.answer;
      if (visit.signal.aborted) return SILENCE;
      const holder = holderIn(request);
      if (this.#parked.hasRoomFor(holder)) {
        const requestState = this.#parked.park(call, binding, holder);
        return resultAnswer({ resultType: "input_required", inputRequests: turn.inputRequests, requestState });
      }
      call.refuseQuestions(
        new FailError(
          fail("limited", "The caller cannot be asked now: too many calls wait for input already. Try again later."),
        ),
      );
    }
  }

  /** A source's own `input_required` goes to the caller as it is, if the caller can be asked that. */
  #relayed(answer: Answer, request: AdmittedFacts, method: string): Answer {
    if (answer.type !== "result" || answer.result["resultType"] !== "input_required") return answer;
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

/** Methods whose answer may be `input_required`. */
const RELAYING_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

function visitOf(outlet: ModernOutlet, { signal, envelope, meta }: AdmittedFacts, canAsk: boolean): Visit {
  const token = meta["progressToken"];
  return {
    signal,
    capabilities: canAsk ? envelope.clientCapabilities : {},
    ...((typeof token === "string" || typeof token === "number") && { progressToken: token }),
    ...(envelope.logLevel !== undefined && { logLevel: envelope.logLevel }),
    note: (method: string, params: JsonObject) => outlet.note(JSON.stringify({ jsonrpc: "2.0", method, params })),
  };
}

function bindingOf({ method, params = {} }: RpcRequest, { principal }: AdmittedFacts): Binding {
  return {
    principal: principal.id,
    method,
    target: String(params["name"] ?? params["uri"]),
    arguments: params["arguments"] ?? {},
  };
}

function clientOf({ connection, envelope }: AdmittedFacts): Client {
  const { clientInfo, clientCapabilities } = envelope;
  const name = isJsonObject(clientInfo) ? stringMember(clientInfo, "name") : undefined;
  const version = isJsonObject(clientInfo) ? stringMember(clientInfo, "version") : undefined;
  return {
    ...(connection !== undefined && { connection }),
    ...(name !== undefined && { name }),
    ...(version !== undefined && { version }),
    era: "modern",
    capabilities: clientCapabilities,
  };
}
