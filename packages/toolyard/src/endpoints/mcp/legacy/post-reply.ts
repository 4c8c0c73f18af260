import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import { acceptedTypes, type AcceptedTypes } from "../../../http/request/accept.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import type { EventStream } from "../../../http/answer/event-stream.ts";
import { JSON_CONTENT, sendEmpty } from "../../../http/answer/send.ts";
import type { LoggedEvent } from "../../../state/ports/event-log.ts";
import { classifyMessage, RPC, rpcError } from "../../../wire/messages.ts";
import type { SplicedReply } from "../answers.ts";
import type { Outlet, ReplyError } from "./outlet.ts";
import { requestsOf } from "./replies.ts";
import { eventId, type SessionEvents } from "./session-events.ts";
import type { StandingStream } from "./standing-stream.ts";

/** Parts of a session that a reply needs. */
export interface ReplyHome {
  /** Id of the session for the response headers, after the session was opened. */
  readonly openId: string | undefined;
  /** Headers of JSON answers, after the session was opened. */
  readonly jsonHeaders: readonly string[] | undefined;
  readonly events: SessionEvents;
  /** Value of `retry`, which is sent with an event id at the start of a stream, if the revision supports it. */
  readonly primingRetryMs: number | undefined;
  /** Stream of messages that belong to no request. */
  readonly standing: Pick<StandingStream, "isOpen" | "note">;
  /** Registers a reply and returns a number by which it can be found until it ends. */
  register(reply: PostReply): number;
  unregister(stream: number): void;
}

/**
 * Response to one POST. It is plain JSON if nothing precedes the replies. The first notification or server request
 * turns it into a stream of server-sent events. If the client loses the stream, the events are kept in the event log,
 * and `attach` resumes the stream.
 */
export class PostReply implements Outlet {
  readonly isShared = false;
  readonly answersCancelled = true;
  readonly startedAt = performance.now();
  readonly #http: HttpExchange;
  readonly #home: ReplyHome;
  /** Received body: one message, or a batch. */
  readonly #body: unknown;
  readonly #accepted: AcceptedTypes;
  readonly #number: number;
  #replies: (string | SplicedReply)[] = [];
  #stream: EventStream | undefined;
  #isOver = false;

  constructor(http: HttpExchange, home: ReplyHome, body: unknown) {
    this.#http = http;
    this.#home = home;
    this.#body = body;
    this.#accepted = acceptedTypes(http.header("accept"));
    this.#number = home.register(this);
  }

  /** False if a plain response has lost its connection. A lost stream may be resumed, so it counts as reachable. */
  get reachable(): boolean {
    if (!this.#accepted.stream) return this.#home.standing.isOpen;
    return !this.#isOver && (this.#stream !== undefined || !this.#http.answer.isGone);
  }

  note(text: string): void {
    if (this.#isOver || !this.reachable) return;
    // A client that accepts only JSON can receive the message only on the standing stream of its session.
    if (!this.#accepted.stream) return this.#home.standing.note(text);
    this.stream();
    this.#send(text);
  }

  reply(text: string, error?: ReplyError): void {
    if (this.#isOver) return;
    if (error?.requiredScopes) this.#http.answer.requireScopes(error.requiredScopes);
    if (this.#stream) this.#sendReply(text);
    else this.#replies.push(text);
  }

  replySpliced(reply: SplicedReply): void {
    if (this.#isOver) return;
    if (this.#stream) this.#sendReply(reply.join(""));
    else this.#replies.push(reply);
  }

  /**
   * Turns the response into a stream before there is anything to send, because intermediaries close quiet connections.
   */
  stream(): void {
    if (this.#isOver || this.#stream || !this.#accepted.stream || !this.#http.answer.isOpen) return;
    const { openId } = this.#home;
    this.#stream = this.#http.openStream(openId === undefined ? {} : { "mcp-session-id": openId });
    const { events, primingRetryMs } = this.#home;
    events.openStream(this.#number, () => requestsOf(this.#body).map(({ id }) => id));
    if (primingRetryMs !== undefined) this.#stream.send("", { id: events.mark(this.#number), retryMs: primingRetryMs });
    for (const reply of this.#replies) this.#sendReply(textOf(reply));
    this.#replies = [];
  }

  /** Resumes the stream for a client that has received all events up to `sequence`. */
  attach(stream: EventStream, sequence: number): void | Promise<void> {
    return this.#home.events.after(this.#number, sequence, (missed = []) => {
      this.#stream?.end();
      this.#stream = stream;
      replay(stream, missed);
      // The reply may have ended while the missed events were read.
      if (this.#isOver) stream.end();
    });
  }

  /** Ends the response after all its requests were answered. */
  end(): void {
    if (this.#isOver) return;
    // If no request gets a reply, HTTP requires a stream, which then stays empty.
    if (this.#replies.length === 0 || !this.#accepted.json) this.stream();
    this.#isOver = true;
    this.#home.unregister(this.#number);
    if (this.#stream) this.#stream.end();
    else if (this.#replies.length > 0) this.#sendJson();
    else sendEmpty(this.#http.answer, 202);
  }

  #sendJson(): void {
    const { answer } = this.#http;
    const [only = ""] = this.#replies;
    const headers = this.#home.jsonHeaders ?? JSON_CONTENT;
    if (Array.isArray(this.#body)) answer.send(200, headers, `[${this.#replies.map(textOf).join(",")}]`);
    else if (typeof only === "string") answer.send(200, headers, only);
    else answer.sendPieces(200, headers, only);
    this.#replies = [];
  }

  /**
   * Sends a reply. A reply that is too large for the event log is recorded as an error with the same id, because a
   * stream can only be resumed while the log contains its last event.
   */
  #sendReply(text: string): void {
    this.#send(text, () => replyNotKept(text));
  }

  #send(text: string, inPlace?: () => string): void {
    const id = this.#home.events.add(this.#number, text, inPlace);
    this.#stream?.send(text, { event: "message", id });
  }
}

function textOf(reply: string | SplicedReply): string {
  return typeof reply === "string" ? reply : reply.join("");
}

function replyNotKept(text: string): string {
  const classified = classifyMessage(parseExact(text));
  const id = classified.type === "reply" ? classified.message.id : classified.type === "invalid" ? classified.id : null;
  return stringifyExact(
    rpcError(id, {
      code: RPC.internal,
      message: `The answer has ${text.length} characters, more than is kept for clients that lost their stream.`,
    }),
  );
}

/** Sends again the events of one stream that a client missed. */
export function replay(to: EventStream, missed: readonly LoggedEvent[]): void {
  for (const { stream, sequence, text } of missed) to.send(text, { event: "message", id: eventId(stream, sequence) });
}
