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
 * What was sent on streams of server-sent events, for clients that lost theirs. Bounded in size, number and time; the
 * oldest goes first. Writing never throws.
 */
export interface EventLog {
  /** Whether one text is more than a session may hold, so that it is not kept. */
  isTooLarge(text: string): boolean;
  /**
   * Keeps an event. With `unheard`, only if the same text does not wait for its client already, and fewer than `most`
   * events do.
   */
  append(session: string, event: LoggedEvent, unheard?: Unheard): void;
  /**
   * What is kept of `stream` after `sequence`, in order; nothing at all where the stream is not known, so that what was
   * sent on it since cannot be told.
   */
  after(
    session: string,
    stream: number,
    sequence: number,
  ): readonly LoggedEvent[] | undefined | Promise<readonly LoggedEvent[] | undefined>;
  /** The session is over. */
  forget(session: string): void;
  /** Lets go of what is older than the bound of time. `now` as `performance.now()` says it. */
  sweep(now: number): void;
}
