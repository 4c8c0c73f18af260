import type { Socket } from "node:net";
import { createSecureContext, TLSSocket, type SecureContext } from "node:tls";
import { MIN_VERSION, type KeyPair } from "./key-pair.ts";

export interface TlsGateOptions {
  /** Maximum milliseconds from the opening of a connection to its encryption. */
  readonly withinMs: number;
  /** Called with each encrypted connection. */
  readonly onSecure: (socket: TLSSocket) => void;
}

/** First byte of a TLS connection. */
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
 * Encrypts connections. It reads the first byte before that, so that a client that sends plain HTTP to an encrypted
 * port gets a readable message.
 */
export class TlsGate {
  readonly #options: TlsGateOptions;
  readonly #waiting = new Set<Socket>();
  #context: SecureContext;

  constructor(options: TlsGateOptions, pair: KeyPair) {
    this.#options = options;
    this.#context = contextOf(pair);
  }

  /** Sets the key pair for new connections. */
  use(pair: KeyPair): void {
    this.#context = contextOf(pair);
  }

  /** Accepts a connection from which nothing has been read. */
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

  /** Closes the connections whose encryption has not been established yet. */
  close(): void {
    for (const raw of this.#waiting) raw.destroy();
  }

  #encrypt(raw: Socket, settled: () => void): void {
    const socket = new TLSSocket(raw, {
      isServer: true,
      secureContext: this.#context,
      ALPNProtocols: ["http/1.1"],
    });
    // A client disconnects if it has no protocol version in common with the hub or does not trust the certificate. That
    // is no error of the hub.
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

/**
 * Answers a client that does not encrypt. Its further data are read and dropped, because closing the connection earlier
 * would lose the answer.
 */
function refusePlain(raw: Socket): void {
  raw.end(PLAIN_ANSWER, "latin1");
  raw.resume();
}
