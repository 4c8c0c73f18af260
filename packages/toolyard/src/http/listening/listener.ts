import type { KeyPair } from "../tls/key-pair.ts";
import type { Handler, RefusalBody, RoutePlace } from "../router.ts";

export interface ListenerAddress {
  readonly host: string;
  /** The real one where 0 was asked for. */
  readonly port: number;
  /** `http://host:port/base`, or with `https`, to which paths are added. */
  readonly url: string;
}

/** A listener with a port of its own. */
export interface PortListener extends Listener {
  /**
   * Encrypts with this pair from the next connection on; those that are open stay as they are. With `tls` among the
   * options, called before it listens.
   */
  certify(pair: KeyPair): Promise<void>;
}

/** Where doors mount. What a path means is its handler's business. */
export interface Mountable {
  /**
   * Mounts a handler below the base path. `path` is exact, or ends in `/*`. Other methods are answered 405.
   * `refusalBody` words what the listener itself refuses there; without it that is an error of JSON-RPC.
   */
  route(place: RoutePlace, handler: Handler, refusalBody?: RefusalBody): void;
}

/** The listener that doors mount on. It guards, authenticates and routes. */
export interface Listener extends Mountable {
  /** Rejects with an `OptionError` that names the port and says what to do when it cannot be had. */
  listen(): Promise<ListenerAddress>;
  readonly address: ListenerAddress | undefined;
  /** Stops accepting, lets answers in flight end within the grace time, closes every connection. Idempotent. */
  close(): Promise<void>;
}
