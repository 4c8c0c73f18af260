import type { EventLog, LoggedEvent, RecoveredEvents, StreamOpening, Unheard } from "../ports/event-log.ts";
import { recoverEvents } from "../recovered-events.ts";
import type { MemoryEventLog } from "./event-log.ts";

/** Event log that several hubs of this process share. */
export class SharedEventLog implements EventLog {
  readonly #events: MemoryEventLog;

  constructor(events: MemoryEventLog) {
    this.#events = events;
  }

  isTooLarge(text: string): boolean {
    return this.#events.isTooLarge(text);
  }

  append(session: string, event: LoggedEvent, unheard?: Unheard): void {
    this.#events.append(session, event, unheard);
  }

  openStream(session: string, opening: StreamOpening): void {
    this.#events.openStream(session, opening);
  }

  after(session: string, stream: number, sequence: number): readonly LoggedEvent[] | undefined {
    return this.#events.after(session, stream, sequence);
  }

  recover(session: string): RecoveredEvents {
    return recoverEvents(this.#events.all(session));
  }

  /** Does nothing, because the hub that takes the session over uses the same log. */
  release(): void {}

  forget(session: string): void {
    this.#events.forget(session);
  }

  sweep(now: number): void {
    this.#events.sweep(now);
  }
}
