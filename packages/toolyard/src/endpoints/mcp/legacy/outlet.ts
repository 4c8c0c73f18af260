import type { FailKind } from "../../../core/calls/kinds.ts";
import type { SplicedReply } from "../answers.ts";

export interface ReplyError {
  readonly code: number;
  readonly kind?: FailKind;
  readonly requiredScopes?: readonly string[];
}

/**
 * Receiver of the answer to one message and of everything that precedes the answer. Texts are whole JSON-RPC messages
 * without line breaks.
 */
export interface Outlet {
  /**
   * Sends the only reply to a request. `error` describes an error reply, for transports that also report errors in
   * another way.
   */
  reply(text: string, error?: ReplyError): void;
  /** Sends a result in parts. Absent if only text can be sent. */
  replySpliced?(reply: SplicedReply): void;
  /** Sends a notification or a server request that belongs to the current request or to the session. */
  note(text: string): void;
  /** False if no client can receive messages. Server requests are then refused immediately. */
  readonly reachable: boolean;
  /**
   * True if several requests share the channel, so that the client may read a notification and a reply in one chunk.
   */
  readonly isShared: boolean;
  /**
   * True if a cancelled request still gets an answer. A stream that ends without a reply looks like a lost stream, to
   * which the client would reconnect repeatedly. Absent if no answer is needed, as the specification describes.
   */
  readonly answersCancelled?: boolean;
}

/**
 * Returns the outlet for messages that may be sent during or after the answer: the session's outlet if it is open,
 * otherwise the outlet of the answer. Some clients stop reading the stream of an answer after the answer.
 */
export function lastingOutlet(outlet: Outlet, session: Outlet): Pick<Outlet, "note" | "reachable"> {
  return {
    get reachable() {
      return session.reachable || outlet.reachable;
    },
    note: (text) => (session.reachable ? session : outlet).note(text),
  };
}
