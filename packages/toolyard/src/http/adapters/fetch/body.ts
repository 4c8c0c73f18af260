import { GatheredBytes } from "../../../core/gathered-bytes.ts";
import { assertPlain, incomplete, tooLarge, tooSlow } from "../../request/body-refusals.ts";
import { Refusal } from "../../answer/refusal.ts";
import type { BodyAccounts } from "../../wire.ts";

export interface BodyReading {
  readonly maxBytes: number;
  /** Maximum time until the body is complete, in milliseconds. */
  readonly timeoutMs: number;
  readonly accounts: BodyAccounts;
}

/**
 * Reads the body of a `Request` into memory, at most `maxBytes`. Rejects with a `Refusal`: 413 above that limit, 415
 * for a compressed body, 408 if the body is not complete within `timeoutMs`, 400 if it ends early, 503 if `accounts`
 * releases it.
 */
export async function readBody(request: Request, { maxBytes, timeoutMs, accounts }: BodyReading): Promise<Buffer> {
  assertPlain(request.headers.get("content-encoding") ?? undefined);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (!request.body) return NOTHING;
  const reader = request.body.getReader();
  const gathered = new GatheredBytes();
  let refusal: Refusal | undefined;
  const stop = (reason: Refusal): void => {
    refusal ??= reason;
    gathered.clear();
    void reader.cancel().catch(() => {});
  };
  const account = accounts.openBody(() => stop(tooSlow()));
  const timer = setTimeout(() => stop(new Refusal(408, "The request body did not arrive in time.")), timeoutMs);
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw refusal ?? incomplete();
      });
      if (refusal) throw refusal;
      if (done) return gathered.take();
      if (gathered.length + value.length > maxBytes) stop(tooLarge(maxBytes));
      else gathered.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      account.resize(gathered.length);
    }
  } finally {
    clearTimeout(timer);
    account.close();
  }
}

const NOTHING = Buffer.alloc(0);
