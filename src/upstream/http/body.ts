import type { Cancellation } from "../../core/cancellation.ts";
import { SseDecoder, type SseHandlers } from "../../wire/sse.ts";
import { httpFailure, toRequestFailure, type Place } from "./failures.ts";
import type { ResponseBody } from "./response-body.ts";

export interface BodyBounds {
  readonly place: Place;
  /** Of a whole JSON body, or of one server-sent event. */
  readonly maxBytes: number;
  readonly signal: Cancellation;
}

/** Reads a body to its end. Rejects with `too_large` as soon as it is over the bound, and with what broke it. */
export async function readText(body: ResponseBody, bounds: BodyBounds): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  await consume(body, bounds, (chunk) => {
    length += chunk.length;
    if (length > bounds.maxBytes) throw tooLarge(bounds);
    chunks.push(chunk);
  });
  return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)).toString("utf8");
}

/**
 * Reads events until the stream ends. Rejects with `too_large` for an event over the bound, and with what broke the
 * stream.
 */
export async function readEvents(body: ResponseBody, bounds: BodyBounds, handlers: SseHandlers): Promise<void> {
  const decoder = new SseDecoder(bounds.maxBytes, handlers);
  await consume(body, bounds, (chunk) => {
    try {
      decoder.push(chunk);
    } catch (error) {
      throw error instanceof RangeError ? tooLarge(bounds) : error;
    }
  });
}

/** The body of a refusal as far as it can be had; empty when it breaks off or is over the bound. Never rejects. */
export async function readRefusal(body: ResponseBody, place: Place, signal: Cancellation): Promise<string> {
  return readText(body, { place, signal, maxBytes: MAX_REFUSAL_BYTES }).catch(() => "");
}

const MAX_REFUSAL_BYTES = 1024 * 1024;

/**
 * Throws the rest of a body away, so that its connection can be used again; a rest that is long or slow ends the
 * connection.
 */
export function discard(body: ResponseBody): void {
  let length = 0;
  const timer = setTimeout(() => body.destroy(), MAX_DISCARD_MS);
  timer.unref();
  body.read({
    onData: (chunk) => {
      length += chunk.length;
      if (length > MAX_DISCARDED_BYTES) body.destroy();
    },
    onEnd: () => clearTimeout(timer),
  });
}

const MAX_DISCARDED_BYTES = 64 * 1024;
const MAX_DISCARD_MS = 5000;

function consume(body: ResponseBody, bounds: BodyBounds, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (error: unknown): void => {
      if (isOver) return;
      isOver = true;
      if (error === undefined) return resolve();
      body.destroy();
      reject(error);
    };
    body.read({
      onData: (chunk) => {
        if (isOver) return;
        try {
          onChunk(chunk);
        } catch (error) {
          end(error);
        }
      },
      onEnd: (error) => end(error === undefined ? undefined : toRequestFailure(error, bounds.place, bounds.signal)),
    });
  });
}

function tooLarge({ place, maxBytes }: BodyBounds): Error {
  const what = `sent an answer over the bound of ${maxBytes} bytes. Ask it for less, or raise \`max_message_bytes\`.`;
  return httpFailure("too_large", place, what, { details: { maxBytes } });
}
