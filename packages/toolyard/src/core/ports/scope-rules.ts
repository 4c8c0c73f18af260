import type { Principal } from "../calls/call.ts";
import type { Fail } from "../calls/outcome.ts";
import type { Subject } from "./permission.ts";

/** Scopes that operations need. */
export interface ScopeRules {
  /** True if no operation needs a scope. */
  readonly isEmpty: boolean;
  /** Returns the scopes that a tool, prompt or resource needs. */
  required(subject: Subject): readonly string[];
  /**
   * Returns a failure if a caller's scopes do not permit the subject, otherwise `undefined`. `name` is for the message.
   */
  refusal(principal: Principal, subject: Subject, name: string): Fail | undefined;
}
