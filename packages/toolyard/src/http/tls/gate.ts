import type { Socket } from "node:net";
import { createSecureContext, TLSSocket, type SecureContext } from "node:tls";
import { MIN_VERSION, type KeyPair } from "./key-pair.ts";

export interface TlsGateOptions {
  /** Time in which a connection must be encrypted, from when it was opened. */
  readonly withinMs: number;
  /** Is given each connection that is. */
  readonly onSecure: (socket: TLSSocket) => void;
}

/** First byte of a connection that begins to speak TLS. */
const HANDSHAKE = 0x16;

const PLAIN_TEXT = "This port speaks HTTPS only: use https:// in place of http://.\n";
const PLAIN_ANSWER = [
  "HTTP/1.1 400 Bad Request",
  "content-type: text/plain; charset=utf-8",
  `content-length: ${PLAIN_TEXT.length}`,
  "connection: close",
  "",
  PLAIN_TEXT,
].join("\r\n");

/**
 * Makes encrypted connections of plain ones. It looks at the first byte before, since whoever speaks plain HTTP to an
 * encrypted port is to be told so in words.
 */
export class TlsGate {
  readonly #options: TlsGateOptions;
  readonly #waiting = new Set<Socket>();
  #context: SecureContext;

  constructor(options: TlsGateOptions, pair: KeyPair) {
    this.#options = options;
    this.#context = contextOf(pair);
  }

  /** For connections that come from now on. */
  use(pair: KeyPair): void {
    this.#context = contextOf(pair);
  }

  /** Takes a connection of which nothing was read yet. */
  take(raw: Socket): void {
    this.#waiting.add(raw);
    const timer = setTimeout(() => raw.destroy(), this.#options.withinMs);
    const settled = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(raw);
    };
    raw.on("error", () => {});
    raw.once("close", settled);
    raw.once("data", (first: Buffer) => {
      if (first[0] !== HANDSHAKE) return refusePlain(raw);
      raw.pause();
      raw.unshift(first);
      this.#encrypt(raw, settled);
    });
    raw.resume();
  }

  /** Ends the connections that are not encrypted yet. */
  close(): void {
    for (const raw of this.#waiting) raw.destroy();
  }

  #encrypt(raw: Socket, settled: () => void): void {
    const socket = new TLSSocket(raw, {
      isServer: true,
      secureContext: this.#context,
      ALPNProtocols: ["http/1.1"],
    });
    // Whoever cannot agree on a protocol, or does not know the certificate's authority, goes; that is nobody's fault.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => raw.destroy());
    socket.once("secure", () => {
      settled();
      this.#options.onSecure(socket);
    });
  }
}

function contextOf(pair: KeyPair): SecureContext {
  return createSecureContext({ cert: pair.cert, key: pair.key, minVersion: MIN_VERSION });
}

/** What the caller still sends is read and dropped: a connection that is closed before takes the answer with it. */
function refusePlain(raw: Socket): void {
  raw.end(PLAIN_ANSWER, "latin1");
  raw.resume();
}
