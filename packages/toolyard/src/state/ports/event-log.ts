export interface EventLogLimits {
  /** Maximum number of characters for the sessions together. One session may store a sixteenth of it. */
  readonly maxBytes: number;
  /** Maximum number of events of one session. All sessions together may store 64 times as many. */
  readonly maxEvents: number;
  readonly keepMs: number;
}

export interface LoggedEvent {
  /** Number of the stream in its session. */
  readonly stream: number;
  /** Sequence number, which grows with each event of the session. */
  readonly sequence: number;
  readonly text: string;
}

/** Start of a stream that answers requests, as it is stored for a hub that takes the session over. */
export interface StreamOpening {
  readonly stream: number;
  readonly sequence: number;
  /** Ids of the requests that the stream answers. */
  readonly requests: readonly (string | number | bigint)[];
}

/** State of the event log of a session that another hub held. */
export interface RecoveredEvents {
  /** Highest sequence number and highest stream number that are stored. */
  readonly lastSequence: number;
  readonly lastStream: number;
  /** Requests without a stored reply, by stream. */
  readonly unanswered: ReadonlyMap<number, readonly (string | number | bigint)[]>;
}

/** Condition under which an event is not stored, because its client has not received enough of the earlier events. */
export interface Unheard {
  /** Sequence number of the last event of the stream that the client has received. */
  readonly after: number;
  /** Maximum number of events that may wait for the client. Absent: only the limits of the log apply. */
  readonly most?: number;
}

/**
 * Events that were sent on SSE streams, for clients that reconnect. Limited in size, number and age; the oldest is
 * dropped first. Writing never throws.
 */
export interface EventLog {
  /** Returns true if a text exceeds a session's share, so that it is not stored. */
  isTooLarge(text: string): boolean;
  /**
   * Stores an event. With `unheard`, stores it only if the same text does not already wait for the client, and fewer
   * than `most` events do.
   */
  append(session: string, event: LoggedEvent, unheard?: Unheard): void;
  /**
   * Returns the events of `stream` after `sequence`, in order. Returns `undefined` if the log contains no event of the
   * stream, because then missed events cannot be determined.
   */
  after(
    session: string,
    stream: number,
    sequence: number,
  ): readonly LoggedEvent[] | undefined | Promise<readonly LoggedEvent[] | undefined>;
  /** Stores the start of a stream. Absent: no other hub can take a session over. */
  openStream?(session: string, opening: StreamOpening): void;
  /** Loads the events of a session that another hub held. */
  recover?(session: string): RecoveredEvents | Promise<RecoveredEvents>;
  /** Removes the events of a session from this hub, and keeps them for the hub that takes the session over. */
  release?(session: string): void;
  /** Removes the events of a session that has ended. */
  forget(session: string): void;
  /** Drops events above the age limit. `now` is on the clock of `performance.now()`. */
  sweep(now: number): void;
}
