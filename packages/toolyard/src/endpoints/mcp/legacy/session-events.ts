import type { RequestId } from "../../../wire/messages.ts";
import type { EventLog, LoggedEvent, Unheard } from "../../../state/ports/event-log.ts";

const SEQUENCE_GAP = 1_000_000;

/** Receives the events of a stream that a client missed, or `undefined` if the stream is unknown. */
export type MissedEventsHandler = (missed: readonly LoggedEvent[] | undefined) => void;

/** Events of one session. Their ids are unique in the session and name the stream: `<stream>-<sequence>`. */
export class SessionEvents {
  readonly #log: EventLog;
  readonly #session: string;
  #lastSequence = 0;
  /** Events that arrive while the log is read, one list for each read. */
  #late: Set<LoggedEvent[]> | undefined;

  constructor(log: EventLog, session: string) {
    this.#log = log;
    this.#session = session;
  }

  /** Records one event and returns its id. `inPlace` returns the replacement for a text that is too large to keep. */
  add(stream: number, text: string, inPlace?: () => string): string {
    this.#append(stream, inPlace && this.#log.isTooLarge(text) ? inPlace() : text);
    return eventId(stream, this.#lastSequence);
  }

  /** Records the start of a stream that answers these requests, if another hub may take the session over. */
  openStream(stream: number, requests: () => readonly RequestId[]): void {
    if (!this.#log.openStream) return;
    this.#lastSequence += 1;
    this.#log.openStream(this.#session, { stream, sequence: this.#lastSequence, requests: requests() });
  }

  /** Continues after the events of the previous hub. The gap is for events that the previous hub could not store. */
  startAfter(sequence: number): void {
    this.#lastSequence = sequence + SEQUENCE_GAP;
  }

  /** Leaves the events for the hub that takes the session over. */
  release(): void {
    this.#log.release?.(this.#session);
  }

  /** Records an event for a client without an open stream, unless an equal event already waits for it. */
  addUnheard(stream: number, text: string, unheard: Unheard): void {
    this.#append(stream, text, unheard);
  }

  /** Returns an id for an event that has no data. Such an event is not recorded. */
  mark(stream: number): string {
    return eventId(stream, this.#lastSequence);
  }

  /**
   * Passes the recorded events of `stream` after `sequence` to `take`. Calls it synchronously when they are complete,
   * so that a stream that `take` resumes misses no event.
   */
  after(stream: number, sequence: number, take: MissedEventsHandler): void | Promise<void> {
    const kept = this.#log.after(this.#session, stream, sequence);
    return kept instanceof Promise ? this.#afterLater(kept, stream, take) : take(kept);
  }

  close(): void {
    this.#log.forget(this.#session);
  }

  #append(stream: number, text: string, unheard?: Unheard): void {
    this.#lastSequence += 1;
    const event: LoggedEvent = { stream, sequence: this.#lastSequence, text };
    this.#log.append(this.#session, event, unheard);
    for (const late of this.#late ?? []) late.push(event);
  }

  async #afterLater(
    reading: Promise<readonly LoggedEvent[] | undefined>,
    stream: number,
    take: MissedEventsHandler,
  ): Promise<void> {
    const late: LoggedEvent[] = [];
    (this.#late ??= new Set()).add(late);
    try {
      const kept = await reading;
      const last = kept?.at(-1)?.sequence ?? 0;
      const since = late.filter((event) => event.stream === stream && event.sequence > last);
      take(since.length === 0 ? kept : [...(kept ?? []), ...since]);
    } finally {
      this.#late.delete(late);
    }
  }
}

export function eventId(stream: number, sequence: number): string {
  return `${stream}-${sequence}`;
}

export function parseEventId(id: string): { readonly stream: number; readonly sequence: number } | undefined {
  const match = /^(\d{1,9})-(\d{1,15})$/.exec(id);
  return match ? { stream: Number(match[1]), sequence: Number(match[2]) } : undefined;
}
