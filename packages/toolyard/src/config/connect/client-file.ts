import { ConfigError } from "../../core/errors.ts";
import { readClientDocument, type ClientDocument } from "./client-document.ts";
import type { ClientKind } from "./clients.ts";
import type { ConnectionRecords } from "./records.ts";

/** A client's file, and the records of its changes. */
export interface ClientPlace {
  readonly client: ClientKind;
  readonly path: string;
  readonly records: ConnectionRecords;
}

/** A change of a file that is ready to be written. */
export interface Change {
  readonly before: ClientDocument;
  readonly after: ClientDocument;
}

/** Maximum number of attempts to read and edit a client's file, because the client may write it at any time. */
const MAX_ATTEMPTS = 5;

/**
 * Returns a client's current file and the result of `edit`. Returns undefined if the edit changes nothing. Throws a
 * `ConfigError` if the file changes during every attempt.
 */
export async function changeFile(
  { client, path }: ClientPlace,
  edit: (before: ClientDocument) => Promise<ClientDocument>,
): Promise<Change | undefined> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const before = await readClientDocument(client, path);
    const after = await edit(before);
    if (after.text === before.text) return undefined;
    if ((await readClientDocument(client, path)).text === before.text) return { before, after };
  }
  throw new ConfigError([
    `${path} changed during each of ${MAX_ATTEMPTS} attempts to edit it. Nothing was written. ` +
      `Quit ${client.program} and run the command again.`,
  ]);
}
