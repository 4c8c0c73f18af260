import type { Principal } from "../calls/call.ts";
import type { Fail } from "../calls/outcome.ts";
import type { Subject } from "./permission.ts";

/** Which scopes of access tokens operations need. */
export interface ScopeRules {
  /** No operation needs a scope. */
  readonly isEmpty: boolean;
  /** Returns the scopes that a tool, prompt or resource needs. */
  required(subject: Subject): readonly string[];
  /** Returns why a caller may not use something by its scopes; nothing if it may. `name` is for the message. */
  refusal(principal: Principal, subject: Subject, name: string): Fail | undefined;
}
