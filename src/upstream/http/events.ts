import { consume, faultsAt, type BodyBounds } from "../../outbound/client/body.ts";
import type { ResponseBody } from "../../outbound/client/response-body.ts";
import { SseDecoder, type SseHandlers } from "../../wire/sse.ts";

/**
 * Reads events until the stream ends. Rejects with `too_large` for an event over the bound, and with what broke the
 * stream.
 */
export function readEvents(body: ResponseBody, bounds: BodyBounds, handlers: SseHandlers): Promise<void> {
  const decoder = new SseDecoder(bounds.maxBytes, handlers);
  const faults = faultsAt(bounds);
  return consume(body, faults, (chunk) => {
    try {
      decoder.push(chunk);
    } catch (error) {
      throw error instanceof RangeError ? faults.tooLarge() : error;
    }
  });
}
