import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { FailError } from "../../core/errors.ts";
import { GatheredBytes } from "../../core/gathered-bytes.ts";
import { httpFailure, toRequestFailure, type FailurePlace } from "./server-failures.ts";
import type { ResponseBody } from "./response-body.ts";

export interface BodyBounds {
  readonly place: FailurePlace;
  /** Maximum size of a whole JSON body, or of one server-sent event. */
  readonly maxBytes: number;
  readonly signal: Cancellation;
}

/** Functions that create the errors for a body that exceeds the limit or breaks off. */
export interface BodyFaults {
  tooLarge(): FailError;
  broken(error: unknown): FailError;
}

/**
 * Reads a body to its end. Rejects with `too_large` as soon as it exceeds the limit, and with a failure if it breaks
 * off.
 */
export async function readText(body: ResponseBody, bounds: BodyBounds): Promise<string> {
  return (await readBytes(body, bounds.maxBytes, faultsAt(bounds))).toString("utf8");
}

/** Reads a body like `readText`, with the errors that `faults` creates. */
export async function readBytes(body: ResponseBody, maxBytes: number, faults: BodyFaults): Promise<Buffer> {
  const gathered = new GatheredBytes();
  await consume(body, faults, (chunk) => {
    if (gathered.length + chunk.length > maxBytes) throw faults.tooLarge();
    gathered.push(chunk);
  });
  return gathered.take();
}

/** Returns the failures for the body of a configured server. */
export function faultsAt({ place, maxBytes, signal }: BodyBounds): BodyFaults {
  return {
    tooLarge: () => httpFailure("too_large", { place, what: tooLong(maxBytes) }, { details: { maxBytes } }),
    broken: (error) => toRequestFailure(error, place, signal),
  };
}

function tooLong(maxBytes: number): string {
  return `sent an answer over the limit of ${maxBytes} bytes. Ask it for less, or raise \`max_message_bytes\`.`;
}

/**
 * Reads the body of an error response. Resolves with the part that arrives; "" if it breaks off or exceeds the limit.
 * Never rejects.
 */
export async function readRefusal(body: ResponseBody, place: FailurePlace, signal: Cancellation): Promise<string> {
  return readText(body, { place, signal, maxBytes: MAX_REFUSAL_BYTES }).catch(() => "");
}

const MAX_REFUSAL_BYTES = 1024 * 1024;

/**
 * Discards the rest of a body, so that its connection can be used again. If the rest is long or slow, the connection is
 * closed.
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

/** Passes each chunk to `onChunk`. If `onChunk` throws, reading stops and the promise rejects with that error. */
export function consume(body: ResponseBody, faults: BodyFaults, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    readAll(body, faults, { onChunk, onEnd: (error) => (error === undefined ? resolve() : reject(error)) });
  });
}

export interface ChunkReader {
  /** Handles a chunk. If it throws, reading stops. */
  onChunk(chunk: Buffer): void;
  /** Called once at the end, with an error if the body was not complete. */
  onEnd(error: unknown): void;
}

/** Passes a body to `reader` like `consume`, but reports the end to `reader` and creates no promise. */
export function readAll(body: ResponseBody, faults: BodyFaults, reader: ChunkReader): void {
  let isOver = false;
  const end = (error: unknown): void => {
    if (isOver) return;
    isOver = true;
    if (error !== undefined) body.destroy();
    reader.onEnd(error);
  };
  body.read({
    onData: (chunk) => {
      if (isOver) return;
      try {
        reader.onChunk(chunk);
      } catch (error) {
        end(error);
      }
    },
    onEnd: (error) => end(error === undefined ? undefined : faults.broken(error)),
  });
}
