import type { FailKind } from "../../../core/calls/kinds.ts";
import type { SplicedReply } from "../answers.ts";

export interface ReplyError {
  readonly code: number;
  readonly kind?: FailKind;
}

/**
 * Where the answer to one message, and whatever comes before it, goes. Texts are whole JSON-RPC messages without line
 * breaks.
 */
export interface Outlet {
  /** The one reply to a request; `error` says what it tells, for carriers that tell it in their own way as well. */
  reply(text: string, error?: ReplyError): void;
  /** As `reply`, for results; absent where only text can be sent. */
  replySpliced?(reply: SplicedReply): void;
  /** A notification, or a request of ours, that belongs to the request being answered, or to the session as a whole. */
  note(text: string): void;
  /** False when nobody can receive what is sent any more; asks are then refused at once. */
  readonly reachable: boolean;
  /** Messages of several requests go the same way, so the client may read a notification and a reply in one piece. */
  readonly isShared: boolean;
  /**
   * A request that its caller cancelled is answered all the same. Absent where silence says it, as the specification
   * would have it; a stream that ends without the reply reads as one that was lost, and the client takes it up again
   * and again.
   */
  readonly answersCancelled?: boolean;
}

/**
 * For what may be sent after the answer, or is answered after it: by the session's own way where that is open, since
 * some clients give up what came on the stream of an answer once they have that; else by the way of the answer.
 */
export function lastingOutlet(outlet: Outlet, session: Outlet): Pick<Outlet, "note" | "reachable"> {
  return {
    get reachable() {
      return session.reachable || outlet.reachable;
    },
    note: (text) => (session.reachable ? session : outlet).note(text),
  };
}
