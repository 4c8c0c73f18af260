import type { EventStream } from "../../../http/answer/event-stream.ts";
import type { Outlet } from "./outlet.ts";
import { eventId, type SessionEvents } from "./session-events.ts";

/** Stream that a client opens by GET, for messages that belong to no request. Messages wait until it is open. */
export class StandingStream implements Outlet {
  readonly isShared = true;
  readonly #events: SessionEvents;
  #live: EventStream | undefined;
  #wasOpened = false;
  /** Sequence number of the last event that was sent to a client. */
  #sent = 0;

  constructor(events: SessionEvents) {
    this.#events = events;
  }

  get isOpen(): boolean {
    return this.#live?.isOpen ?? false;
  }

  get reachable(): boolean {
    return this.isOpen;
  }

  reply(text: string): void {
    this.note(text);
  }

  note(text: string): void {
    if (this.isOpen) return this.#send(text, this.#events.add(STANDING, text));
    // Equal notifications are kept once, and only a few are kept for a client that never opened the stream.
    const most = this.#wasOpened ? {} : { most: MAX_UNHEARD };
    this.#events.addUnheard(STANDING, text, { after: this.#sent, ...most });
  }

  /**
   * Attaches a client's stream. It first gets the missed events: those after `sequence`, otherwise those that were
   * never sent.
   */
  attach(stream: EventStream, sequence = this.#sent): void | Promise<void> {
    return this.#events.after(STANDING, sequence, (missed = []) => {
      this.#live?.end();
      this.#live = stream;
      this.#wasOpened = true;
      for (const event of missed) this.#send(event.text, eventId(STANDING, event.sequence));
    });
  }

  end(): void {
    this.#live?.end();
    this.#live = undefined;
  }

  #send(text: string, id: string): void {
    this.#live?.send(text, { event: "message", id });
    this.#sent = Number(id.slice(id.indexOf("-") + 1));
  }
}

/** Number of this stream in event ids. */
export const STANDING = 0;
const MAX_UNHEARD = 32;
