import { randomBytes } from "node:crypto";
import { CallMap } from "../../../core/calls/call-map.ts";
import type { Principal } from "../../../core/calls/call.ts";
import { connectionId } from "../../../core/calls/connection-id.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import { JSON_CONTENT } from "../../../http/answer/send.ts";
import type { EventLog, RecoveredEvents } from "../../../state/ports/event-log.ts";
import type { SessionRecord } from "../../../state/ports/session-records.ts";
import { rpcError, type RequestId } from "../../../wire/messages.ts";
import { HUB_LOST } from "../hub-lost.ts";
import type { PostReply, ReplyHome } from "./post-reply.ts";
import { LegacySession, type SessionDeps } from "./session.ts";
import { SessionEvents } from "./session-events.ts";
import { STANDING, StandingStream } from "./standing-stream.ts";

export interface HttpSessionStart {
  readonly principal: Principal;
  readonly taken?: ResumedSession;
}

/** Session that another hub held, with its record and its events from the store. */
export interface ResumedSession {
  readonly id: string;
  readonly record: SessionRecord;
  readonly events: RecoveredEvents;
}

/** Number of stream numbers that are skipped after a take-over, because the store may not contain the last streams. */
const STREAM_GAP = 1000;

/** Session of Streamable HTTP, with its standing stream and the streams of its calls. */
export class HttpSession implements ReplyHome {
  readonly id: string;
  readonly protocol: LegacySession;
  readonly events: SessionEvents;
  readonly standing: StandingStream;
  readonly #deps: SessionDeps;
  /** Time of the last use. An open stream counts as use. */
  lastSeenAt = performance.now();
  /** Time of the last request of the session. */
  usedAt = this.lastSeenAt;
  #jsonHeaders: readonly string[] | undefined;
  #isListed = false;
  #replies: CallMap<number, PostReply> | undefined;
  #lastReply = STANDING;
  #isTerminated = false;
  /** Requests that the previous hub did not answer, by stream. Absent: this hub opened the session. */
  #unanswered: Map<number, readonly RequestId[]> | undefined;

  /** `taken` is a session that another hub held. */
  constructor(deps: SessionDeps, log: EventLog, { principal, taken }: HttpSessionStart) {
    this.id = taken?.id ?? randomBytes(16).toString("hex");
    this.events = new SessionEvents(log, this.id);
    if (taken) this.#continueAfter(taken.events);
    this.standing = new StandingStream(this.events);
    this.#deps = deps;
    this.protocol = new LegacySession(deps, {
      connection: connectionId(),
      endpoint: "mcp-http",
      principal,
      outlet: this.standing,
      ...(taken && { restored: taken.record }),
      onRecord: (record) => {
        if (this.#isListed) void deps.state.sessions.put(this.id, record);
      },
    });
  }

  /** Continues the numbers of streams and events after those of the previous hub. */
  #continueAfter({ lastSequence, lastStream, unanswered }: RecoveredEvents): void {
    this.events.startAfter(lastSequence);
    this.#lastReply = lastStream + STREAM_GAP;
    this.#unanswered = new Map(unanswered);
  }

  /**
   * Answers the requests of a stream that ran on the previous hub with an error that permits a retry. Does nothing for
   * other streams.
   */
  answerLost(stream: number): void {
    const requests = this.#unanswered?.get(stream);
    if (!requests) return;
    this.#unanswered?.delete(stream);
    for (const id of requests) this.events.add(stream, stringifyExact(rpcError(id, HUB_LOST)));
  }

  get principalId(): string {
    return this.protocol.principal.id;
  }

  /** Name of the profile through which the session was opened. */
  get profile(): string | undefined {
    return this.protocol.principal.profile?.name;
  }

  get isBusy(): boolean {
    return this.protocol.busy;
  }

  /** True while the session neither answers a request nor has an open stream. */
  get isIdle(): boolean {
    return !this.protocol.busy && !this.standing.isOpen;
  }

  get openId(): string | undefined {
    return this.#isListed ? this.id : undefined;
  }

  get jsonHeaders(): readonly string[] | undefined {
    if (!this.#isListed) return undefined;
    return (this.#jsonHeaders ??= Object.freeze(["mcp-session-id", this.id, ...JSON_CONTENT]));
  }

  get primingRetryMs(): number | undefined {
    // A stream that has already ended gets no event id at its start: with an id, the client would reconnect to it,
    // although it has no further events.
    const isPriming = this.protocol.revision.primingEvents && !this.#isTerminated;
    return isPriming ? this.#deps.options.retryMs : undefined;
  }

  /** Publishes the session. From then on its id is valid for callers, in all hubs that share state. */
  list(): void | Promise<void> {
    this.#isListed = true;
    return this.#deps.state.sessions.put(this.id, this.protocol.record);
  }

  register(reply: PostReply): number {
    this.#lastReply += 1;
    this.#replies ??= new CallMap();
    this.#replies.set(this.#lastReply, reply);
    return this.#lastReply;
  }

  unregister(stream: number): void {
    this.#replies?.delete(stream);
  }

  /** Returns the sender of `stream`, if it still exists. */
  sender(stream: number): StandingStream | PostReply | undefined {
    return stream === STANDING ? this.standing : this.#replies?.get(stream);
  }

  /**
   * Ends all streams and cancels the open requests without a reply, before `close`. Used when the client ends the
   * session, because a client that has closed its reader may fail on a late message. The official servers do the same.
   */
  terminate(): void {
    this.#isTerminated = true;
    this.#endStreams();
    this.protocol.abandon("The client ended the session.");
  }

  close(): void {
    this.protocol.close();
    this.#endStreams();
    this.events.close();
    if (!this.#isListed) return;
    this.#isListed = false;
    this.#deps.state.sessions.remove(this.id);
  }

  /** Ends the session on this hub, and leaves its record and its events for the hub that takes it over. */
  handOver(): void {
    this.#isListed = false;
    this.protocol.close("The hub is ending.", HUB_LOST);
    this.#endStreams();
    this.events.release();
    this.#deps.state.sessions.release(this.id);
  }

  #endStreams(): void {
    this.standing.end();
    for (const reply of this.#replies?.values() ?? []) reply.end();
  }
}
