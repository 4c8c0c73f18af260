import type { SplicedReply } from "../answers.ts";

/** Where what belongs to one modern request goes. Texts are whole JSON-RPC messages without line breaks. */
export interface ModernOutlet {
  /** The one reply; nothing follows it. `status` is the HTTP status, of which other transports make no use. */
  reply(text: string, status: number): void;
  /** As `reply`; absent where only text can be sent. */
  replySpliced?(reply: SplicedReply, status: number): void;
  /** A notification that belongs to the request. */
  note(text: string): void;
}
