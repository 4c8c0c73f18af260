export interface EventLogLimits {
  /** Bytes for all sessions together; one session may hold a sixteenth of it. */
  readonly maxBytes: number;
  /** Events of one session; all together may hold 64 times as many. */
  readonly maxEvents: number;
  readonly keepMs: number;
}

export interface LoggedEvent {
  readonly stream: number;
  readonly sequence: number;
  readonly text: string;
}

interface Entry extends LoggedEvent {
  readonly owner: SessionEvents;
  readonly at: number;
  dropped: boolean;
}

/**
 * What was sent on streams of server-sent events, for clients that lost theirs. Bounded in bytes, events and time; the
 * oldest goes first.
 */
export class EventLog {
  readonly #limits: EventLogLimits;
  #queue: (Entry | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #count = 0;

  constructor(limits: EventLogLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#count;
  }

  session(): SessionEvents {
    return new SessionEvents(this);
  }

  /** Whether one text is more than a session may hold. */
  isTooLarge(text: string): boolean {
    return text.length > this.#limits.maxBytes / SESSION_SHARE;
  }

  /** Only for `SessionEvents`. */
  keep(owner: SessionEvents, event: LoggedEvent, now: number): void {
    const { maxBytes, maxEvents } = this.#limits;
    const size = event.text.length;
    if (this.isTooLarge(event.text) || maxEvents === 0) return;
    const entry: Entry = { ...event, owner, at: now, dropped: false };
    this.#queue.push(entry);
    this.#bytes += size;
    this.#count += 1;
    owner.entries.push(entry);
    owner.bytes += size;
    while (owner.entries.length > maxEvents || owner.bytes > maxBytes / SESSION_SHARE)
      this.#drop(owner.entries[0] as Entry);
    while (this.#bytes > maxBytes || this.#count > maxEvents * TOTAL_EVENTS_FACTOR) this.#dropOldest();
  }

  /** Drops what is older than the bound of time. */
  sweep(now: number): void {
    for (let oldest = this.#oldest(); oldest && now - oldest.at > this.#limits.keepMs; oldest = this.#oldest())
      this.#drop(oldest);
  }

  /** The session is over. Only for `SessionEvents`. */
  forget(owner: SessionEvents): void {
    for (const entry of Array.from(owner.entries)) this.#drop(entry as Entry);
  }

  #dropOldest(): void {
    const oldest = this.#oldest();
    if (oldest) this.#drop(oldest);
  }

  #oldest(): Entry | undefined {
    while (this.#head < this.#queue.length && this.#queue[this.#head]!.dropped) {
      this.#queue[this.#head] = undefined;
      this.#head += 1;
    }
    // The places of what was passed over are given back now and then, not one by one.
    if (this.#head > 256 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return this.#queue[this.#head];
  }

  #drop(entry: Entry): void {
    entry.dropped = true;
    this.#bytes -= entry.text.length;
    this.#count -= 1;
    entry.owner.bytes -= entry.text.length;
    // Entries of one session stand in the order in which they are dropped, so this is the first of them.
    if (entry.owner.entries[0] === entry) entry.owner.entries.shift();
    if (this.#count === 0) {
      this.#queue = [];
      this.#head = 0;
    }
  }
}

/** The events of one session. Ids are unique in it and name their stream: `<stream>-<sequence>`. */
export class SessionEvents {
  readonly #log: EventLog;
  /** In order of sending. Written by `EventLog` only. */
  readonly entries: LoggedEvent[] = [];
  bytes = 0;
  #lastSequence = 0;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /**
   * Notes one event and returns its id. `inPlace` makes what is kept instead of a text that is too large to be kept.
   */
  add(stream: number, text: string, inPlace?: () => string): string {
    this.#lastSequence += 1;
    const kept = inPlace && this.#log.isTooLarge(text) ? inPlace() : text;
    this.#log.keep(this, { stream, sequence: this.#lastSequence, text: kept }, performance.now());
    return eventId(stream, this.#lastSequence);
  }

  /** Whether anything of `stream` is kept. The oldest goes first, so its last event is then among it. */
  has(stream: number): boolean {
    return this.entries.some((event) => event.stream === stream);
  }

  /** An id for an event that carries nothing and need not be kept. */
  mark(stream: number): string {
    return eventId(stream, this.#lastSequence);
  }

  /** What was sent on `stream` after `sequence`, as far as it is kept. */
  after(stream: number, sequence: number): LoggedEvent[] {
    return this.entries.filter((event) => event.stream === stream && event.sequence > sequence);
  }

  close(): void {
    this.#log.forget(this);
  }
}

export function eventId(stream: number, sequence: number): string {
  return `${stream}-${sequence}`;
}

export function parseEventId(id: string): { readonly stream: number; readonly sequence: number } | undefined {
  const match = /^(\d{1,9})-(\d{1,15})$/.exec(id);
  return match ? { stream: Number(match[1]), sequence: Number(match[2]) } : undefined;
}

const SESSION_SHARE = 16;
const TOTAL_EVENTS_FACTOR = 64;
