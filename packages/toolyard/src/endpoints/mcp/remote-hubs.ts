import type { HubPort } from "../../core/ports/hub-port.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { HubRelay } from "../../http/relay/hub-relay.ts";
import type { SessionRecord } from "../../state/ports/session-records.ts";
import type { HubState } from "../../state/ports/store.ts";
import type { RpcRequest } from "../../wire/messages.ts";
import type { RelayedPaths, RequestRelay } from "../request-relay.ts";
import type { LegacyExchange } from "./legacy/exchange.ts";

/** Request for a session that this hub does not hold. */
export interface RemoteSessionRequest {
  readonly exchange: LegacyExchange;
  readonly id: string;
  /** Parsed body. Absent: the request has none. */
  readonly body?: unknown;
}

/** Part of the endpoint that serves sessions of this hub. */
export interface LocalSessions {
  /** Returns true if this hub holds the session, of any caller. */
  has(id: string): boolean;
  /** Returns true if this hub holds the session of the request, and the session belongs to the caller. */
  isCallers(exchange: LegacyExchange): boolean;
  /** Opens a session that this hub has claimed. Resolves to false if there is no room for it. */
  open(id: string, record: SessionRecord, exchange: LegacyExchange): Promise<boolean>;
  /** Serves a request of a session that this hub holds. */
  serve(request: RemoteSessionRequest): void | Promise<void>;
}

/** Part of the endpoint that holds parked calls of this hub. */
export interface LocalCalls {
  holdsCall(id: string): boolean;
}

/** Serves requests of sessions that other hubs hold. */
export interface RemoteSessionServer {
  /** Answers a request. Never rejects because of the store or another hub. */
  answer(request: RemoteSessionRequest): Promise<void>;
}

/** Serves retries of calls that other hubs hold. */
export interface RemoteCallServer {
  /**
   * Passes a retry to the hub that holds its call. Returns `undefined` for any other request, which is not passed.
   * `serve` serves a request on this hub.
   */
  pass(
    message: RpcRequest,
    http: HttpExchange,
    serve: (message: RpcRequest) => Promise<void>,
  ): Promise<void> | undefined;
}

export interface RemoteHubsDeps {
  readonly hub: Pick<HubPort, "list">;
  readonly logger: Logger;
  readonly state: HubState;
}

/** The other hubs of the store, for the endpoint. Its code is loaded only if the store has other hubs. */
export interface RemoteHubs {
  readonly relay: HubRelay;
  /** Relay for other endpoints. */
  readonly requests: RequestRelay;
  /** Paths that other endpoints serve for other hubs. */
  readonly paths: RelayedPaths;
  sessions(local: LocalSessions): RemoteSessionServer;
  calls(local: LocalCalls): RemoteCallServer;
}
