import type { EventLog, EventLogLimits, LoggedEvent, StreamOpening, Unheard } from "../ports/event-log.ts";
import type { StoredEvent } from "../recovered-events.ts";

interface EventLogEntry extends StoredEvent {
  readonly owner: SessionEntries;
  readonly at: number;
  dropped: boolean;
}

/** Stored events of one session, in sending order. */
interface SessionEntries {
  readonly session: string;
  readonly entries: EventLogEntry[];
  size: number;
}

const SESSION_SHARE = 16;
const TOTAL_EVENTS_FACTOR = 64;
const COMPACT_FROM = 256;

/** Event log in the memory of this process. */
export class MemoryEventLog implements EventLog {
  readonly #limits: EventLogLimits;
  readonly #sessions = new Map<string, SessionEntries>();
  /** Entries in the order of sending, including entries that were dropped from the middle. */
  #queue: EventLogEntry[] = [];
  #head = 0;
  #size = 0;
  #count = 0;

  constructor(limits: EventLogLimits) {
    this.#limits = limits;
  }

  /** Number of stored characters. */
  get size(): number {
    return this.#size;
  }

  get count(): number {
    return this.#count;
  }

  /** Number of entries in memory, including those that were dropped recently. */
  get held(): number {
    return this.#queue.length;
  }

  isTooLarge(text: string): boolean {
    return text.length > this.#limits.maxBytes / SESSION_SHARE;
  }

  /** Returns true if the event was stored. */
  append(session: string, event: StoredEvent, unheard?: Unheard): boolean {
    const { maxBytes, maxEvents } = this.#limits;
    if (this.isTooLarge(event.text) || maxEvents === 0) return false;
    if (unheard && this.#isHeardEnough(session, event, unheard)) return false;
    const owner = this.#ownerOf(session);
    const entry: EventLogEntry = { ...event, owner, at: performance.now(), dropped: false };
    this.#compact();
    this.#queue.push(entry);
    owner.entries.push(entry);
    owner.size += event.text.length;
    this.#size += event.text.length;
    this.#count += 1;
    while (owner.entries.length > maxEvents || owner.size > maxBytes / SESSION_SHARE) this.#drop(owner.entries[0]!);
    while (this.#size > maxBytes || this.#count > maxEvents * TOTAL_EVENTS_FACTOR) this.#dropOldest();
    return true;
  }

  openStream(session: string, opening: StreamOpening): boolean {
    return this.append(session, { ...opening, text: "" });
  }

  /** Returns all stored events of a session, with the starts of its streams. */
  all(session: string): readonly StoredEvent[] {
    return this.#sessions.get(session)?.entries ?? [];
  }

  /** Ids of the sessions with stored events. */
  get sessions(): readonly string[] {
    return Array.from(this.#sessions.keys());
  }

  after(session: string, stream: number, sequence: number): readonly LoggedEvent[] | undefined {
    const known = this.#sessions.get(session)?.entries.filter((event) => event.stream === stream) ?? [];
    // An empty list means that the stream is unknown: the oldest events are dropped first, so a known stream always has
    // its latest event.
    return known.length === 0 ? undefined : known.filter((event) => event.sequence > sequence && !event.requests);
  }

  forget(session: string): void {
    for (const entry of Array.from(this.#sessions.get(session)?.entries ?? [])) this.#drop(entry);
  }

  sweep(now: number): void {
    for (let oldest = this.#oldest(); oldest && now - oldest.at > this.#limits.keepMs; oldest = this.#oldest())
      this.#drop(oldest);
  }

  #isHeardEnough(session: string, { stream, text }: LoggedEvent, { after, most = Infinity }: Unheard): boolean {
    const waiting = this.after(session, stream, after) ?? [];
    return waiting.length >= most || waiting.some((event) => event.text === text);
  }

  #ownerOf(session: string): SessionEntries {
    let owner = this.#sessions.get(session);
    if (!owner) this.#sessions.set(session, (owner = { session, entries: [], size: 0 }));
    return owner;
  }

  #dropOldest(): void {
    const oldest = this.#oldest();
    if (oldest) this.#drop(oldest);
  }

  #oldest(): EventLogEntry | undefined {
    while (this.#queue[this.#head]?.dropped) this.#head += 1;
    return this.#queue[this.#head];
  }

  /** Removes dropped entries in batches instead of one by one. */
  #compact(): void {
    if (this.#queue.length < 2 * this.#count + COMPACT_FROM) return;
    this.#queue = this.#queue.filter((entry) => !entry.dropped);
    this.#head = 0;
  }

  #drop(entry: EventLogEntry): void {
    const { owner } = entry;
    entry.dropped = true;
    this.#size -= entry.text.length;
    this.#count -= 1;
    owner.size -= entry.text.length;
    // The dropped entry is the first one of its session, because entries of a session are dropped in order.
    if (owner.entries[0] === entry) owner.entries.shift();
    if (owner.entries.length === 0) this.#sessions.delete(owner.session);
    if (this.#count > 0) return;
    this.#queue = [];
    this.#head = 0;
  }
}
