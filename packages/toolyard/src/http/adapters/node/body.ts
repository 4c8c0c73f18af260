import type { IncomingMessage } from "node:http";
import { GatheredBytes } from "../../../core/gathered-bytes.ts";
import { assertPlain, incomplete, tooLarge, tooSlow } from "../../request/body-refusals.ts";
import type { BodyAccounts } from "../../wire.ts";

/**
 * Reads the body of a request into memory, at most `maxBytes`. Rejects with a `Refusal`: 413 as soon as the body is
 * known to be larger, 415 for a compressed body, 400 if the client stops early, 503 if `accounts` releases it.
 */
export function readBody(request: IncomingMessage, maxBytes: number, accounts: BodyAccounts): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    assertPlain(request.headers["content-encoding"]);
    if (declaredLength(request) > maxBytes) {
      discardRest(request);
      return reject(tooLarge(maxBytes));
    }
    const gathered = new GatheredBytes();
    const stop = (reason: Error): void => {
      request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      gathered.clear();
      account.close();
      discardRest(request);
      reject(reason);
    };
    const account = accounts.openBody(() => stop(tooSlow()));
    const onData = (chunk: Buffer): void => {
      if (gathered.length + chunk.length > maxBytes) return stop(tooLarge(maxBytes));
      gathered.push(chunk);
      account.resize(gathered.length);
    };
    const onEnd = (): void => {
      request.off("close", onBroken);
      account.close();
      resolve(gathered.take());
    };
    const onBroken = (): void => stop(incomplete());
    request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  });
}

/** Returns the body length in a request's headers, so that a large body is refused before it is read. */
export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers["content-length"] ?? 0);
}

/**
 * Reads and drops the rest of a refused body. If the connection were closed while the client is still sending, the
 * system would reset the connection and the answer would be lost. A client that sends more than `MAX_DISCARDED_BYTES`
 * is disconnected.
 */
function discardRest(request: IncomingMessage): void {
  let dropped = 0;
  request.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.on("error", () => {});
}

const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
