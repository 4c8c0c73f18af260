import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Keys of one connection, one for each direction, so that an attacker cannot return a valid record to its sender. */
export interface ConnectionKeys {
  readonly client: Buffer;
  readonly server: Buffer;
}

/** Facts that the opening hub signs. */
interface HandshakeFacts {
  readonly from: string;
  readonly to: string;
  readonly nonce: string;
}

export interface AcceptedHello {
  /** Id of the hub that opens the connection. */
  readonly from: string;
  /** Value of `RELAY_HEADER` in the response. */
  readonly reply: string;
  readonly keys: ConnectionKeys;
}

export interface StartedHandshake {
  /** Value of `RELAY_HEADER` in the request. */
  readonly hello: string;
  /**
   * Returns the keys of the connection. Returns `undefined` if the other program does not know the secret of the store.
   */
  readonly finish: (reply: string) => ConnectionKeys | undefined;
}

const NONCE_BYTES = 24;
/** Maximum number of characters of a hello. */
const MAX_CHARS = 2048;

/**
 * Authenticates a connection between two hubs of a store. The client names both hubs and sends a nonce, the server
 * returns another nonce, and both sign with a key that is derived from the secret of the store. The keys of the
 * connection depend on both nonces, so that a recorded handshake cannot open a second connection. No clock is needed.
 */
export class Handshakes {
  readonly #hub: string;
  readonly #secret: () => Uint8Array;

  constructor(hub: string, secret: () => Uint8Array) {
    this.#hub = hub;
    this.#secret = secret;
  }

  start(to: string): StartedHandshake {
    const key = this.#key();
    const facts: HandshakeFacts = { from: this.#hub, to, nonce: randomBytes(NONCE_BYTES).toString("base64url") };
    const text = Buffer.from(JSON.stringify(facts)).toString("base64url");
    return {
      hello: `${text}.${codeOf(key, "hello", text).toString("base64url")}`,
      finish: (reply) => {
        const [nonce = "", code = ""] = reply.split(".");
        const signed = `${text} ${nonce}`;
        return isCode(code, codeOf(key, "accept", signed)) ? keysOf(key, signed) : undefined;
      },
    };
  }

  /**
   * Returns the reply to a hello, and the keys of the connection. Returns `undefined` if no hub of the store signed the
   * hello, or if it names another receiver.
   */
  accept(hello: string): AcceptedHello | undefined {
    if (hello.length > MAX_CHARS) return undefined;
    const key = this.#key();
    const [text = "", code = ""] = hello.split(".");
    if (!isCode(code, codeOf(key, "hello", text))) return undefined;
    const { from, to } = JSON.parse(Buffer.from(text, "base64url").toString()) as HandshakeFacts;
    if (to !== this.#hub) return undefined;
    const nonce = randomBytes(NONCE_BYTES).toString("base64url");
    const signed = `${text} ${nonce}`;
    const reply = `${nonce}.${codeOf(key, "accept", signed).toString("base64url")}`;
    return { from, reply, keys: keysOf(key, signed) };
  }

  /** Each use of the secret has a separate key. */
  #key(): Buffer {
    return createHmac("sha256", this.#secret()).update("relay-frames").digest();
  }
}

function keysOf(key: Buffer, signed: string): ConnectionKeys {
  return { client: codeOf(key, "client", signed), server: codeOf(key, "server", signed) };
}

function codeOf(key: Buffer, use: string, text: string): Buffer {
  return createHmac("sha256", key).update(`${use} ${text}`).digest();
}

function isCode(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given, "base64url");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
