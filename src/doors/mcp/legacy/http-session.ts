import { randomBytes } from "node:crypto";
import { CallMap } from "../../../core/call-map.ts";
import type { Principal } from "../../../core/call.ts";
import type { EventStream } from "../../../http/event-stream.ts";
import type { EventLog, SessionEvents } from "./event-log.ts";
import { replay, type PostReply, type ReplyHome } from "./post-reply.ts";
import { connectionId } from "./connection-id.ts";
import { LegacySession, type SessionDeps } from "./session.ts";
import { STANDING, StandingStream } from "./standing-stream.ts";

/** One session of Streamable HTTP: the session itself, its standing stream and the streams of its calls. */
export class HttpSession implements ReplyHome {
  readonly id = randomBytes(16).toString("hex");
  readonly session: LegacySession;
  readonly events: SessionEvents;
  readonly standing: StandingStream;
  readonly #retryMs: number;
  /** When it was seen to be in use last, be it that somebody only listens. */
  lastSeenAt = performance.now();
  /** When a request named it last. */
  usedAt = this.lastSeenAt;
  /** It was given out: callers know its id. */
  isListed = false;
  #replies: CallMap<number, PostReply> | undefined;
  #lastReply = STANDING;

  constructor(deps: SessionDeps, log: EventLog, principal: Principal) {
    this.events = log.session();
    this.standing = new StandingStream(this.events);
    this.#retryMs = deps.options.retryMs;
    this.session = new LegacySession(deps, {
      connection: connectionId(),
      door: "mcp-http",
      principal,
      outlet: this.standing,
    });
  }

  /** Neither answers anything nor has anybody listening. */
  get isIdle(): boolean {
    return !this.session.busy && !this.standing.isOpen;
  }

  get openId(): string | undefined {
    return this.isListed ? this.id : undefined;
  }

  get primingRetryMs(): number | undefined {
    return this.session.revision.primingEvents ? this.#retryMs : undefined;
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

  /**
   * What there is to take up on `stream` after `sequence`: nothing more once its client has it all, and nothing is
   * known past the bounds kept.
   */
  rest(stream: number, sequence: number): "some" | "none" | "unknown" {
    if (stream === STANDING || this.#replies?.has(stream)) return "some";
    if (this.events.after(stream, sequence).length > 0) return "some";
    return this.events.has(stream) ? "none" : "unknown";
  }

  /** A client is back for one of its streams: sends what it missed and goes on where the stream is still running. */
  resume(to: EventStream, stream: number, sequence: number): void {
    if (stream === STANDING) return this.standing.attach(to, sequence);
    const running = this.#replies?.get(stream);
    if (running) return running.attach(to, sequence);
    replay(to, this.events, stream, sequence);
    to.end();
  }

  close(): void {
    this.session.close();
    this.standing.end();
    for (const reply of this.#replies?.values() ?? []) reply.end();
    this.events.close();
  }
}
