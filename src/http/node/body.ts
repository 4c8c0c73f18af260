import type { IncomingMessage } from "node:http";
import { assertPlain, incomplete, tooLarge } from "../body-refusals.ts";

/**
 * Reads a request's body, holding at most `maxBytes` of it. Rejects with a `Refusal`: 413 as soon as the bound is known
 * to be passed, 415 for a compressed body, 400 when the caller stopped half-way.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    assertPlain(request.headers["content-encoding"]);
    if (declaredLength(request) > maxBytes) {
      discardRest(request);
      return reject(tooLarge(maxBytes));
    }
    const chunks: Buffer[] = [];
    let held = 0;
    const onData = (chunk: Buffer): void => {
      held += chunk.length;
      if (held <= maxBytes) return void chunks.push(chunk);
      request.off("data", onData);
      chunks.length = 0;
      discardRest(request);
      reject(tooLarge(maxBytes));
    };
    const onBroken = (): void => reject(incomplete());
    request.on("data", onData);
    request.on("end", () => {
      request.off("close", onBroken);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, held));
    });
    request.on("error", onBroken);
    request.on("close", onBroken);
  });
}

/** What the head of a request says about its body, so that a large one is refused before any of it is read. */
export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers["content-length"] ?? 0);
}

/**
 * Takes in and drops what is left of a refused body. Closing on a caller that still sends would lose the answer, since
 * the system then resets the connection; somebody who never ends is cut off all the same.
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
