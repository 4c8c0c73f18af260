import type { FailKind } from "../../../core/calls/kinds.ts";
import type { SplicedReply } from "../answers.ts";

export interface ReplyError {
  readonly code: number;
  readonly kind?: FailKind;
  readonly requiredScopes?: readonly string[];
}

/**
 * Receiver of the answer to one message and of everything before it. Texts are whole JSON-RPC messages without line
 * breaks.
 */
export interface Outlet {
  /**
   * Sends the one reply to a request; `error` describes an error reply, for carriers that report errors in their own
   * way too.
   */
  reply(text: string, error?: ReplyError): void;
  /** Like `reply`, for results; absent if only text can be sent. */
  replySpliced?(reply: SplicedReply): void;
  /** Sends a notification, or a request of the hub, that belongs to the current request or to the session. */
  note(text: string): void;
  /** False if no client can receive messages any more; server requests are then refused immediately. */
  readonly reachable: boolean;
  /** Messages of several requests share this path, so the client may read a notification and a reply in one chunk. */
  readonly isShared: boolean;
  /**
   * A request that its caller cancelled still gets an answer. Absent where silence is enough, as the specification
   * describes. A stream that ends without the reply looks like a lost one, and the client reconnects to it again and
   * again.
   */
  readonly answersCancelled?: boolean;
}

/**
 * Returns the outlet for messages that are sent or answered after the answer: the session's, if it is open, because
 * some clients abandon the stream of an answer once they have the answer; otherwise that of the answer.
 */
export function lastingOutlet(outlet: Outlet, session: Outlet): Pick<Outlet, "note" | "reachable"> {
  return {
    get reachable() {
      return session.reachable || outlet.reachable;
    },
    note: (text) => (session.reachable ? session : outlet).note(text),
  };
}
