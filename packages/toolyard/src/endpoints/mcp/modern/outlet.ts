import type { SplicedReply } from "../answers.ts";

/** Receiver of all messages of one modern request. Texts are whole JSON-RPC messages without line breaks. */
export interface ModernOutlet {
  /**
   * Sends the only reply, after which nothing follows. `status` is the HTTP status; other transports ignore it.
   * `requiredScopes`: scopes that the caller's access token lacks.
   */
  reply(text: string, status: number, requiredScopes?: readonly string[]): void;
  /** Sends a reply in parts. Absent if only text can be sent. */
  replySpliced?(reply: SplicedReply, status: number): void;
  /** Sends a notification that belongs to the request. */
  note(text: string): void;
}
