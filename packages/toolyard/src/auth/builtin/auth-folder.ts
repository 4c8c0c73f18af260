import { join } from "node:path";
import { ClientRegistry } from "./client-registry.ts";
import { Users } from "./users.ts";

/** Files of the authorization server, below the data folder of the hub. */
export interface AuthFiles {
  readonly users: Users;
  readonly clients: ClientRegistry;
  readonly keys: string;
  readonly recordsOf: (model: string) => string;
}

/** Returns the files that the hub and the commands of `toolyard auth` share. */
export function authFiles(dataFolder: string): AuthFiles {
  const folder = join(dataFolder, "auth");
  return {
    users: new Users(join(folder, "users.json")),
    clients: new ClientRegistry(join(folder, "clients")),
    keys: join(folder, "keys.json"),
    recordsOf: (model) => join(folder, "records", model),
  };
}
