import { faultsAt, readAll, type BodyBounds } from "../../../outbound/client/body.ts";
import type { ResponseBody } from "../../../outbound/client/response-body.ts";
import { SseDecoder, type SseHandlers } from "../../../wire/sse.ts";

export interface EventReader extends SseHandlers {
  /**
   * Called at the end of the stream: without an error if the server ended it. Otherwise with `too_large` for an event
   * over the limit, with the error of a handler, or with the reason why the stream broke.
   */
  onEnd(error: unknown): void;
}

/** Reads events until the stream ends. */
export function readEvents(body: ResponseBody, bounds: BodyBounds, reader: EventReader): void {
  const decoder = new SseDecoder(bounds.maxBytes, reader);
  const faults = faultsAt(bounds);
  readAll(body, faults, {
    onChunk: (chunk) => {
      try {
        decoder.push(chunk);
      } catch (error) {
        throw error instanceof RangeError ? faults.tooLarge() : error;
      }
    },
    onEnd: (error) => reader.onEnd(error),
  });
}
