import type { Socket } from "node:net";
import type { ExchangePlace } from "../exchange.ts";
import type { KeyPair } from "../tls/key-pair.ts";
import type { Handler, RefusalBody, RoutePlace } from "../router.ts";

export interface ListenerAddress {
  readonly host: string;
  /** Actual port, also if port 0 was requested. */
  readonly port: number;
  /** `http://host:port/base`, or with `https`, without a trailing slash. */
  readonly url: string;
}

/** Listener with its own port. */
export interface PortListener extends Listener {
  /**
   * Sets the key pair for new connections; open connections stay unchanged. If the options contain `tls`, it must be
   * called before `listen`.
   */
  certify(pair: KeyPair): Promise<void>;
}

/**
 * Takes over a paused connection of another protocol than plain HTTP. `bytes`: bytes that were already read from it.
 * Returns false for an unknown protocol; the connection is then unchanged.
 */
export type TakeConnection = (socket: Socket, bytes: Buffer) => boolean;

/** Object on which endpoints are mounted. */
export interface Mountable {
  /** Parts that all exchanges of the listener share. Absent: requests of other hubs arrive only over HTTP. */
  readonly place?: ExchangePlace;
  /**
   * Mounts a handler below the base path. `path` is exact, or ends with `/*`. Other methods are answered with 405.
   * `refusalBody` formats the listener's own refusals on the path; without it they are JSON-RPC errors.
   */
  route(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void;
  /**
   * Offers each connection with a next request that is not plain to `take`, before Node's server gets it. Absent:
   * connections of this listener cannot be taken over.
   */
  upgrade?(take: TakeConnection): void;
}

/** Returns a listener that differs from another one in how routes are added. */
export function withRoute(listener: Mountable, route: Mountable["route"]): Mountable {
  return {
    ...(listener.place && { place: listener.place }),
    route,
    ...(listener.upgrade && { upgrade: (take) => listener.upgrade?.(take) }),
  };
}

/** Listener on which endpoints are mounted. It checks, authenticates and routes requests. */
export interface Listener extends Mountable {
  /** Listens. Rejects with an `OptionError` that contains the port and the advice if the port cannot be opened. */
  listen(): Promise<ListenerAddress>;
  readonly address: ListenerAddress | undefined;
  /**
   * Refuses new connections, waits for running answers within the grace time, then closes all connections. Idempotent.
   */
  close(): Promise<void>;
}
