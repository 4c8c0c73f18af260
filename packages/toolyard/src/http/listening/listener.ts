import type { KeyPair } from "../tls/key-pair.ts";
import type { Handler, RefusalBody, RoutePlace } from "../router.ts";

export interface ListenerAddress {
  readonly host: string;
  /** The actual port if 0 was requested. */
  readonly port: number;
  /** `http://host:port/base`, or with `https`, to which paths are added. */
  readonly url: string;
}

/** A listener with its own port. */
export interface PortListener extends Listener {
  /**
   * Encrypts with this pair from the next connection on; open ones stay unchanged. With `tls` among the options, called
   * before it listens.
   */
  certify(pair: KeyPair): Promise<void>;
}

/** Mounts endpoints. */
export interface Mountable {
  /**
   * Mounts a handler below the base path. `path` is exact, or ends in `/*`. Other methods are answered with 405.
   * `refusalBody` formats the listener's own refusals there; without it they are JSON-RPC errors.
   */
  route(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void;
}

/** The listener on which endpoints are mounted. It checks, authenticates and routes requests. */
export interface Listener extends Mountable {
  /** Rejects with an `OptionError` that names the port and the advice if it cannot be opened. */
  listen(): Promise<ListenerAddress>;
  readonly address: ListenerAddress | undefined;
  /** Stops accepting, lets running answers end within the grace time, closes every connection. Idempotent. */
  close(): Promise<void>;
}
