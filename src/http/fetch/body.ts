import { assertPlain, incomplete, tooLarge } from "../body-refusals.ts";
import { Refusal } from "../refusal.ts";

/**
 * Reads the body of a standard `Request`, holding at most `maxBytes` of it. Rejects with a `Refusal`: 413 past the
 * bound, 415 for a compressed body, 408 when it is not whole within `timeoutMs`, 400 when it broke off.
 */
export async function readBody(request: Request, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  assertPlain(request.headers.get("content-encoding") ?? undefined);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (!request.body) return NOTHING;
  const reader = request.body.getReader();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => {});
  }, timeoutMs);
  try {
    const body = await readAll(reader, maxBytes);
    if (isLate) throw new Refusal(408, "The request body did not arrive in its time.");
    return body;
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let held = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw incomplete();
    });
    if (done) return Buffer.concat(chunks, held);
    held += value.length;
    if (held > maxBytes) {
      void reader.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    chunks.push(value);
  }
}

const NOTHING = Buffer.alloc(0);
