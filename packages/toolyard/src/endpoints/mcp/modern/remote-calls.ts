import { stringifyExact } from "../../../core/json/exact-json.ts";
import { sendJson } from "../../../http/answer/send.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import type { HubRelay } from "../../../http/relay/hub-relay.ts";
import { rpcError, type RpcRequest } from "../../../wire/messages.ts";
import { HUB_LOST } from "../hub-lost.ts";
import { refuseStoreLost } from "../refuse-store-lost.ts";
import { isRepeatable } from "../repeatable.ts";
import type { LocalCalls, RemoteCallServer, RemoteHubsDeps } from "../remote-hubs.ts";
import { idOf, isOwnState } from "./request-state.ts";

type Serve = (message: RpcRequest) => Promise<void>;

/**
 * Calls of the modern era that wait for input on another hub. A retry is passed to the hub that holds the call. If that
 * hub has exited, an idempotent call starts again here, and any other call gets an error.
 */
export class RemoteCalls implements RemoteCallServer {
  readonly #deps: RemoteHubsDeps;
  readonly #relay: HubRelay;
  readonly #local: LocalCalls;

  constructor(deps: RemoteHubsDeps, relay: HubRelay, local: LocalCalls) {
    this.#deps = deps;
    this.#relay = relay;
    this.#local = local;
  }

  pass(message: RpcRequest, http: HttpExchange, serve: Serve): Promise<void> | undefined {
    const state = message.params?.["requestState"];
    if (!isOwnState(state) || http.relayedFrom !== undefined) return undefined;
    const id = idOf(state);
    return this.#local.holdsCall(id) ? undefined : this.#pass(id, { message, http, serve });
  }

  async #pass(
    id: string,
    { message, http, serve }: { readonly message: RpcRequest; readonly http: HttpExchange; readonly serve: Serve },
  ): Promise<void> {
    const { state, hub } = this.#deps;
    try {
      const holder = await state.parked.find(id);
      if (!holder || holder.hub === state.hub) return serve(message);
      const result = holder.isAlive
        ? await this.#relay.forward(holder.hub, { http, body: stringifyExact(message) })
        : "unsent";
      if (result === "answered") return undefined;
      if (await isRepeatable(message, hub, http.principal)) return serve(withoutState(message));
      return sendJson(http.answer, 200, stringifyExact(rpcError(message.id, HUB_LOST)));
    } catch (error) {
      return refuseStoreLost(error, http.answer, message.id);
    }
  }
}

/** Returns the request without the state and the answers of a call that waited for input. */
function withoutState(message: RpcRequest): RpcRequest {
  const { requestState: _, inputResponses: __, ...params } = message.params ?? {};
  return { ...message, params };
}
