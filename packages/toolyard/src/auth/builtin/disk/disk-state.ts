import { join } from "node:path";
import {
  MAX_CLIENTS,
  POLL_RULE,
  type AttemptLimit,
  type AuthRecords,
  type AuthState,
} from "../../../state/ports/auth-state.ts";
import { Attempts } from "../attempts.ts";
import { ClientFiles } from "./client-files.ts";
import { DevicePolls } from "../device-polls.ts";
import { AuthFile } from "./auth-file.ts";
import { JournalRecords } from "./journal-records.ts";

/**
 * Opens the state of the authorization server below the data folder of a hub. Attempts and polls are counted in memory.
 * Only one hub may use the folder; commands may use it at the same time.
 */
export function openDiskState(dataFolder: string, now: () => number = Date.now): AuthState {
  const folder = join(dataFolder, "auth");
  const records = new Map<string, AuthRecords>();
  const attempts = new Map<string, Attempts>();
  return {
    users: new AuthFile(join(folder, "users.json")),
    keys: new AuthFile(join(folder, "keys.json")),
    clients: new ClientFiles(join(folder, "clients"), MAX_CLIENTS),
    polls: new DevicePolls(POLL_RULE, now),
    records: (model) => memoized(records, model, () => new JournalRecords(join(folder, "records", model), now)),
    attempts: (name, limit: AttemptLimit) => memoized(attempts, name, () => new Attempts(limit, now)),
  };
}

function memoized<T>(known: Map<string, T>, name: string, create: () => T): T {
  const found = known.get(name) ?? create();
  known.set(name, found);
  return found;
}
