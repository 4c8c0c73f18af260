import { parseExact } from "../core/json/exact-json.ts";
import { isJsonObject } from "../core/json/json.ts";
import type { LoggedEvent, RecoveredEvents } from "./ports/event-log.ts";

/** Stored event. One with `requests` is the start of a stream and has no text for clients. */
export interface StoredEvent extends LoggedEvent {
  readonly requests?: readonly (string | number | bigint)[];
}

/** Returns the facts about stored events that a hub needs when it takes their session over. */
export function recoverEvents(events: readonly StoredEvent[]): RecoveredEvents {
  const unanswered = new Map<number, (string | number | bigint)[]>();
  let [lastSequence, lastStream] = [0, 0];
  for (const { stream, sequence, requests, text } of events) {
    lastSequence = Math.max(lastSequence, sequence);
    lastStream = Math.max(lastStream, stream);
    if (requests) unanswered.set(stream, [...requests]);
    const waiting = unanswered.get(stream);
    if (!waiting || waiting.length === 0 || requests) continue;
    const replied = repliedId(text);
    if (replied !== undefined)
      unanswered.set(
        stream,
        waiting.filter((id) => id !== replied),
      );
  }
  return { lastSequence, lastStream, unanswered };
}

/** Returns the id of the request that a message answers, or `undefined` if the message is no reply. */
function repliedId(text: string): unknown {
  const message: unknown = parseExact(text);
  return isJsonObject(message) && !("method" in message) ? message["id"] : undefined;
}
