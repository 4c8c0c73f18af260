// The part of the contract of `/api/admin` about users, clients and profiles. The page imports this file, so it imports
// only types of the contract.
import type { ActionResult } from "./api-types.ts";

/** `GET users` */
export interface UserList {
  /** False if the hub has no authorization server of its own. The lists are then empty. */
  readonly hasUsers: boolean;
  readonly users: readonly UserRow[];
  /** Clients that have registered themselves. */
  readonly clients: readonly ClientRow[];
}

export interface UserRow {
  readonly name: string;
  /** Subject of the user's tokens. */
  readonly sub: string;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  /** False if the user may not use the hub: it needs a role and has none, or its provider does not admit it. */
  readonly isAdmitted: boolean;
  readonly hasPassword: boolean;
  /** Identity provider at which the user signs in. @default none */
  readonly provider?: string;
  /** True for the user of this request. */
  readonly isYou: boolean;
}

export interface ClientRow {
  readonly id: string;
  readonly name: string;
  readonly redirects: readonly string[];
  /** ISO 8601 */
  readonly registeredAt?: string;
}

/** Body of `POST users`. In `POST users/{name}/password`, `name` and `groups` are absent. */
export interface NewUser {
  readonly name: string;
  readonly groups?: readonly string[];
  /** @default a generated password, which the answer contains */
  readonly password?: string;
}

export interface SetPassword extends ActionResult {
  /** The generated password. It is shown once. */
  readonly password?: string;
}

/** `GET profiles/{name}` */
export interface ProfileDetail {
  readonly name: string;
  readonly title?: string;
  readonly instructions?: string;
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
  /** Configuration of each client. */
  readonly clients: readonly ProfileClient[];
}

export interface ProfileClient {
  readonly program: string;
  /** File for the text, or a command that writes it. */
  readonly place: string;
  readonly text: string;
}
