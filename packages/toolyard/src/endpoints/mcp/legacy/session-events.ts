import type { EventLog, LoggedEvent, Unheard } from "../../../state/ports/event-log.ts";

/** Takes what a client missed of a stream: nothing at all where the stream is not known. */
export type MissedEventsHandler = (missed: readonly LoggedEvent[] | undefined) => void;

/** The events of one session. Ids are unique in it and name their stream: `<stream>-<sequence>`. */
export class SessionEvents {
  readonly #log: EventLog;
  readonly #session: string;
  #lastSequence = 0;
  /** What comes while the log is read, one list for each reading. */
  #late: Set<LoggedEvent[]> | undefined;

  constructor(log: EventLog, session: string) {
    this.#log = log;
    this.#session = session;
  }

  /**
   * Notes one event and returns its id. `inPlace` makes what is kept instead of a text that is too large to be kept.
   */
  add(stream: number, text: string, inPlace?: () => string): string {
    this.#append(stream, inPlace && this.#log.isTooLarge(text) ? inPlace() : text);
    return eventId(stream, this.#lastSequence);
  }

  /** Notes an event for a client that does not listen now, unless as much waits for it already. */
  addUnheard(stream: number, text: string, unheard: Unheard): void {
    this.#append(stream, text, unheard);
  }

  /** An id for an event that carries nothing and need not be kept. */
  mark(stream: number): string {
    return eventId(stream, this.#lastSequence);
  }

  /**
   * Hands over what was sent on `stream` after `sequence`, as far as it is kept, in the same turn in which nothing is
   * missing from it: whoever takes the stream up in `take` misses nothing.
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
