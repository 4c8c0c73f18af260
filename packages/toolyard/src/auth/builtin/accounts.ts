import type { AuthState } from "../../state/ports/auth-state.ts";
import { ClientRegistry } from "./client-registry.ts";
import { Users } from "./users.ts";

/** Users and registered clients of the authorization server, for the hub and for commands. */
export interface Accounts {
  readonly users: Users;
  readonly clients: ClientRegistry;
}

/** Opens the accounts of a state. `onChanged` is called after access of users or clients may have ended. */
export function openAccounts(
  { users, clients }: Pick<AuthState, "users" | "clients">,
  onChanged?: () => void,
): Accounts {
  return { users: new Users(users, onChanged), clients: new ClientRegistry(clients, onChanged) };
}
