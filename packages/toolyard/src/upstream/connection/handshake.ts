import type { HandshakeOptions } from "./era.ts";
import type { Exchange } from "./exchange.ts";
import type { Transport } from "../transports/transport.ts";

/** The connection and the limits of a handshake. */
export interface Handshake {
  readonly exchange: Exchange;
  readonly transport: Transport;
  readonly options: HandshakeOptions;
}
