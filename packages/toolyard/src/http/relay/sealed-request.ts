import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Logger } from "../../core/ports/ports.ts";
import type { FrameHead } from "./frames/request-heads.ts";
import { ReceivedNumbers } from "./received-numbers.ts";

/** Request that one hub passes to another, without its body. */
export interface RelayHead extends FrameHead {
  /** Id of the sending hub. */
  readonly from: string;
  /** Id of the hub that must answer. */
  readonly to: string;
  /** Time of sending on the clock of the store, in milliseconds since 1970. */
  readonly at: number;
  /** Random text of the sending process. */
  readonly sender: string;
  /** Number of the request, counted by the sending process. With `sender`, it is different for each request. */
  readonly number: number;
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

export interface RequestSealParts {
  readonly hub: string;
  /** Returns the secret of the store. */
  readonly secret: () => Uint8Array;
  /** Returns the time of the store's clock, because the clocks of two machines may differ. */
  readonly now: () => number;
  readonly logger: Pick<Logger, "warning">;
}

/** Maximum milliseconds between sending and receiving a request, including the difference between two clocks. */
const MAX_AGE_MS = 60_000;
/** Maximum number of hubs with a logged difference of clocks. */
const MAX_REPORTED = 100;
const PREFIX_BYTES = 4;

/**
 * Signs and verifies the requests of one hub with the secret of the store. A request names its receiver and is valid
 * once and for a short time.
 */
export class RequestSeal {
  readonly #parts: RequestSealParts;
  #keyed: { readonly secret: Uint8Array; readonly key: Uint8Array } | undefined;
  readonly #received = new ReceivedNumbers(2 * MAX_AGE_MS);
  readonly #sender = randomBytes(9).toString("base64url");
  #number = 0;
  readonly #reported = new Set<string>();

  constructor(parts: RequestSealParts) {
    this.#parts = parts;
  }

  seal(facts: RelayedFacts, body: string | Uint8Array): SealedRequest {
    this.#number += 1;
    const { hub, now } = this.#parts;
    const own = { from: hub, at: now(), sender: this.#sender, number: this.#number };
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
    if (head.to !== this.#parts.hub || !this.#isFresh(head)) return undefined;
    if (!this.#received.add(head.sender, head.number)) return undefined;
    return { head, body: bytes.subarray(bodyStart) };
  }

  /** Returns the key of the messages through the store that belong to the request with this code. */
  messageKey(code: string): Buffer {
    return this.#codeOf(Buffer.from(`messages ${code}`));
  }

  /** Returns the key of the answer to the HTTP request with this code. */
  answerKey(code: string): Buffer {
    return this.#codeOf(Buffer.from(`answer ${code}`));
  }

  /**
   * Returns false if the time of a request differs too much from the store's clock. Logs this once for each sending
   * hub.
   */
  #isFresh({ from, at }: RelayHead): boolean {
    const differenceMs = Math.round(this.#parts.now() - at);
    if (Math.abs(differenceMs) <= MAX_AGE_MS) return true;
    if (!this.#reported.has(from) && this.#reported.size < MAX_REPORTED) {
      this.#reported.add(from);
      this.#parts.logger.warning(
        "A request that another hub passed to this one was refused, because its time differs by more than a minute. " +
          "Synchronise the clocks of both machines.",
        { hub: from, differenceMs },
      );
    }
    return false;
  }

  #codeOf(bytes: Uint8Array): Buffer {
    const secret = this.#parts.secret();
    // The secret has several uses, each with a separate key.
    if (this.#keyed?.secret !== secret)
      this.#keyed = { secret, key: createHmac("sha256", secret).update("relay").digest() };
    return createHmac("sha256", this.#keyed.key).update(bytes).digest();
  }
}
