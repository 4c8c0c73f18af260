import type { SplicedReply } from "../answers.ts";

/** Receiver of what belongs to one modern request. Texts are whole JSON-RPC messages without line breaks. */
export interface ModernOutlet {
  /**
   * Sends the one reply; nothing follows it. `status` is the HTTP status; other transports ignore it. `requiredScopes`
   * are those that the caller's access token lacks.
   */
  reply(text: string, status: number, requiredScopes?: readonly string[]): void;
  /** Like `reply`; absent if only text can be sent. */
  replySpliced?(reply: SplicedReply, status: number): void;
  /** Sends a notification that belongs to the request. */
  note(text: string): void;
}
