import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ReceivedNumbers } from "./received-numbers.ts";
import type { RequestHead } from "../adapters/workers/messages.ts";

/** Request that one hub passes to another, without its body. */
export interface RelayHead extends RequestHead {
  /** Id of the sending hub. */
  readonly from: string;
  /** Id of the hub that must answer. */
  readonly to: string;
  /** Time of sending, in milliseconds since 1970. */
  readonly at: number;
  /** Random text of the sending process. */
  readonly sender: string;
  /** Number of the request, counted by the sending process. With `sender`, it is different for each request. */
  readonly number: number;
  /** True if the path of the request also serves other dialects than MCP. @default false */
  readonly hasDialects?: boolean;
}

export interface SealedRequest {
  /** `u32 length of the head · head (JSON) · body`. */
  readonly bytes: Buffer;
  /** Message authentication code of `bytes`. */
  readonly code: string;
}

export interface OpenedRequest {
  readonly head: RelayHead;
  readonly body: Buffer;
}

/** Facts that the sender of a request knows. The seal adds sender, time and number. */
export type RelayedFacts = Omit<RelayHead, "from" | "at" | "sender" | "number">;

/** Maximum milliseconds between sending and receiving a request, including the difference between two clocks. */
const MAX_AGE_MS = 60_000;
const PREFIX_BYTES = 4;

/**
 * Signs and verifies the requests of one hub with the secret of the store. A request names its receiver and is valid
 * once and for a short time.
 */
export class RequestSeal {
  readonly #hub: string;
  readonly #secret: () => Uint8Array;
  #keyed: { readonly secret: Uint8Array; readonly key: Uint8Array } | undefined;
  readonly #received = new ReceivedNumbers(2 * MAX_AGE_MS);
  readonly #sender = randomBytes(9).toString("base64url");
  #number = 0;

  constructor(hub: string, secret: () => Uint8Array) {
    this.#hub = hub;
    this.#secret = secret;
  }

  seal(facts: RelayedFacts, body: string | Uint8Array): SealedRequest {
    this.#number += 1;
    const own = { from: this.#hub, at: Date.now(), sender: this.#sender, number: this.#number };
    const head = JSON.stringify({ ...facts, ...own } satisfies RelayHead);
    const headBytes = Buffer.byteLength(head);
    const bodyBytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    const bytes = Buffer.allocUnsafe(PREFIX_BYTES + headBytes + bodyBytes);
    bytes.writeUInt32LE(headBytes, 0);
    bytes.write(head, PREFIX_BYTES, "utf8");
    if (typeof body === "string") bytes.write(body, PREFIX_BYTES + headBytes, "utf8");
    else bytes.set(body, PREFIX_BYTES + headBytes);
    return { bytes, code: this.#codeOf(bytes).toString("base64url") };
  }

  /** Returns the request. Returns `undefined` if it was altered, is for another hub, is too old, or arrived before. */
  open({ bytes, code }: SealedRequest): OpenedRequest | undefined {
    const given = Buffer.from(code, "base64url");
    const expected = this.#codeOf(bytes);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const bodyStart = PREFIX_BYTES + bytes.readUInt32LE(0);
    const head = JSON.parse(bytes.toString("utf8", PREFIX_BYTES, bodyStart)) as RelayHead;
    const isFresh = Math.abs(Date.now() - head.at) <= MAX_AGE_MS;
    if (head.to !== this.#hub || !isFresh || !this.#received.add(head.sender, head.number)) return undefined;
    return { head, body: bytes.subarray(bodyStart) };
  }

  #codeOf(bytes: Uint8Array): Buffer {
    const secret = this.#secret();
    // The secret has several uses, each with a separate key.
    if (this.#keyed?.secret !== secret)
      this.#keyed = { secret, key: createHmac("sha256", secret).update("relay").digest() };
    return createHmac("sha256", this.#keyed.key).update(bytes).digest();
  }
}
