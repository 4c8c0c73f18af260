export interface EventLogLimits {
  /** Characters for all sessions together; one session may hold a sixteenth of it. */
  readonly maxBytes: number;
  /** Events of one session; all together may hold 64 times as many. */
  readonly maxEvents: number;
  readonly keepMs: number;
}

export interface LoggedEvent {
  /** Number of the stream in its session. */
  readonly stream: number;
  /** Grows with each event of the session. */
  readonly sequence: number;
  readonly text: string;
}

/** When an event need not be kept, since its client has not heard enough of those before it. */
export interface Unheard {
  /** Up to this sequence the client has heard its stream. */
  readonly after: number;
  /** As many may wait for it; absent: no bound but the log's own. */
  readonly most?: number;
}

/**
 * Events sent on SSE streams, for clients that reconnect. Limited in size, number and age; the oldest is dropped first.
 * Writing never throws.
 */
export interface EventLog {
  /** Returns whether a text exceeds a session's share, so that it is not stored. */
  isTooLarge(text: string): boolean;
  /**
   * Keeps an event. With `unheard`, only if the same text does not wait for its client already, and fewer than `most`
   * events do.
   */
  append(session: string, event: LoggedEvent, unheard?: Unheard): void;
  /**
   * Returns the events of `stream` after `sequence`, in order; undefined if the stream is unknown, so that later events
   * are unknown too.
   */
  after(
    session: string,
    stream: number,
    sequence: number,
  ): readonly LoggedEvent[] | undefined | Promise<readonly LoggedEvent[] | undefined>;
  /** The session is over. */
  forget(session: string): void;
  /** Drops events above the age limit. `now` is from `performance.now()`. */
  sweep(now: number): void;
}
