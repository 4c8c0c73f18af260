import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { MemoryEventLog } from "../memory/event-log.ts";
import type {
  EventLog,
  EventLogLimits,
  LoggedEvent,
  RecoveredEvents,
  StreamOpening,
  Unheard,
} from "../ports/event-log.ts";
import { recoverEvents, type StoredEvent } from "../recovered-events.ts";
import type { RedisConnection } from "./connection.ts";

export interface EventLogParts {
  readonly connection: RedisConnection;
  /** Start of every key of the log. */
  readonly prefix: string;
}

/** Factor by which the key of a session outlives its latest event, since the expiry is not renewed for each event. */
const TTL_FACTOR = 2;

/**
 * Events in the memory of the hub that holds the session, and in a stream of the store for the hub that takes the
 * session over. An entry has the id `<sequence>-<stream>`. Each append removes the entries that memory has dropped, so
 * the stream has the same limits. A hub reads its own memory only.
 */
export class RedisEventLog implements EventLog {
  readonly #memory: MemoryEventLog;
  readonly #parts: EventLogParts;
  readonly #ttlMs: number;
  /** Times at which the expiry of a session's key was set, on the clock of `performance.now()`. */
  readonly #renewedAt = new Map<string, number>();

  constructor(limits: EventLogLimits, parts: EventLogParts) {
    this.#memory = new MemoryEventLog(limits);
    this.#parts = parts;
    this.#ttlMs = Math.max(1000, limits.keepMs * TTL_FACTOR);
    parts.connection.restored.on(() => this.#restore());
  }

  isTooLarge(text: string): boolean {
    return this.#memory.isTooLarge(text);
  }

  append(session: string, event: LoggedEvent, unheard?: Unheard): void {
    if (this.#memory.append(session, event, unheard)) this.#mirror(session, event);
  }

  openStream(session: string, opening: StreamOpening): void {
    if (this.#memory.openStream(session, opening)) this.#mirror(session, { ...opening, text: "" });
  }

  after(session: string, stream: number, sequence: number): readonly LoggedEvent[] | undefined {
    return this.#memory.after(session, stream, sequence);
  }

  async recover(session: string): Promise<RecoveredEvents> {
    const { connection } = this.#parts;
    const entries = (await connection.command("XRANGE", this.#keyOf(session), "-", "+")) as [string, string[]][];
    const events = entries.map(([id, fields]) => readEntry(id, fields));
    for (const event of events) this.#memory.append(session, event);
    return recoverEvents(events);
  }

  release(session: string): void {
    this.#memory.forget(session);
    this.#renewedAt.delete(session);
  }

  forget(session: string): void {
    const { connection } = this.#parts;
    const isStored = this.#renewedAt.delete(session) || this.#memory.all(session).length > 0;
    this.#memory.forget(session);
    if (isStored && !connection.isLost) void connection.write(connection.command("DEL", this.#keyOf(session)));
  }

  sweep(now: number): void {
    this.#memory.sweep(now);
    for (const [session, renewedAt] of this.#renewedAt)
      if (now - renewedAt > this.#ttlMs) this.#renewedAt.delete(session);
  }

  #mirror(session: string, { stream, sequence, text, requests }: StoredEvent): void {
    const { connection } = this.#parts;
    if (connection.isLost) return;
    const oldest = this.#memory.all(session)[0]?.sequence ?? sequence;
    const fields = requests ? ["t", text, "r", stringifyExact(requests)] : ["t", text];
    const key = this.#keyOf(session);
    void connection.write(connection.command("XADD", key, "MINID", `${oldest}-0`, `${sequence}-${stream}`, ...fields));
    this.#renew(session);
  }

  #renew(session: string): void {
    const now = performance.now();
    if (now - (this.#renewedAt.get(session) ?? -Infinity) < this.#ttlMs / 4) return;
    this.#renewedAt.set(session, now);
    const { connection } = this.#parts;
    void connection.write(connection.command("PEXPIRE", this.#keyOf(session), this.#ttlMs));
  }

  /** Stores all events again, because the store may have lost them, and events were not stored during the loss. */
  #restore(): void {
    const { connection } = this.#parts;
    for (const session of this.#memory.sessions) {
      void connection.write(connection.command("DEL", this.#keyOf(session)));
      this.#renewedAt.delete(session);
      for (const event of this.#memory.all(session)) this.#mirror(session, event);
    }
  }

  #keyOf(session: string): string {
    return `${this.#parts.prefix}{${session}}`;
  }
}

function readEntry(id: string, fields: readonly string[]): StoredEvent {
  const [sequence, stream] = id.split("-").map(Number) as [number, number];
  const [, text = "", , requests] = fields;
  return {
    stream,
    sequence,
    text,
    ...(requests !== undefined && { requests: parseExact(requests) as (string | number | bigint)[] }),
  };
}
