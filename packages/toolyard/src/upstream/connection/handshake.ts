import type { HandshakeOptions } from "./era.ts";
import type { Exchange } from "./exchange.ts";
import type { Transport } from "../transports/transport.ts";

/** Who settles the era with a server, over what, and within which bounds. */
export interface Handshake {
  readonly exchange: Exchange;
  readonly transport: Transport;
  readonly options: HandshakeOptions;
}
