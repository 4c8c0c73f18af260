import { CLIENTS, clientFile, findClient, type ClientKind } from "../../config/connect/clients.ts";
import { UsageError } from "../failure.ts";
import type { Io } from "../output/io.ts";

/** Returns the client with this name. Throws a `UsageError` that lists the known names. */
export function clientNamed(name: string): ClientKind {
  const found = findClient(name);
  if ("id" in found) return found;
  const near = found.length > 0 ? ` Did you mean ${found.join(" or ")}?` : "";
  throw new UsageError(
    `No client is known by the name ${name}.${near} There are ${CLIENTS.map(({ id }) => id).join(", ")}.`,
  );
}

/** Returns the file in which a client keeps its user's servers, whether it exists or not. */
export function fileOf(client: ClientKind, io: Io): string {
  return clientFile(client, { variables: io.env, cwd: io.cwd, platform: process.platform });
}
