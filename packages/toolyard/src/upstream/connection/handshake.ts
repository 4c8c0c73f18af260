import type { HandshakeOptions } from "./era.ts";
import type { Exchange } from "./exchange.ts";
import type { Transport } from "../transports/transport.ts";

/** The parts of a handshake: its connection and its limits. */
export interface Handshake {
  readonly exchange: Exchange;
  readonly transport: Transport;
  readonly options: HandshakeOptions;
}
