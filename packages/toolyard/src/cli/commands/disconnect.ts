import { disconnectClient, plannedReturns, type DisconnectionResult } from "../../config/connect/disconnect-client.ts";
import type { ClientPlace } from "../../config/connect/client-file.ts";
import { readClientDocument } from "../../config/connect/client-document.ts";
import { CLIENTS, type ClientKind } from "../../config/connect/clients.ts";
import { ConnectionRecords } from "../../config/connect/records.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { HUB_NAME } from "../../config/import/import-servers.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { EXIT, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import { eachClient } from "../input/each-client.ts";
import { clientNamed, fileOf } from "../input/named-client.ts";
import { plainList } from "../output/table.ts";

interface Options extends SharedOptions {
  readonly dryRun?: boolean;
}

export const run: CommandAction<Options> = async ([name], options, io) => {
  const clients = name === undefined ? await connected(io) : [clientNamed(name)];
  if (clients.length === 0) throw new UsageError("No client is connected. `toolyard connect` does that.");
  const work = (client: ClientKind): Promise<object> => disconnectOne(client, options, io);
  const { done, failed } = await eachClient(clients, work, { named: name !== undefined, options, io });
  if (options.json) await printJson(io.stdout, { dryRun: options.dryRun === true, clients: done, ...failed });
  return failed ? EXIT.usage : EXIT.ok;
};

/** Returns the clients with a file that contains the hub, or from which servers were moved to the hub. */
async function connected(io: Io): Promise<readonly ClientKind[]> {
  const states = await Promise.all(
    CLIENTS.map(async (client) => {
      const { path, records } = placeOf(client, io);
      const document = await readClientDocument(client, path).catch(() => undefined);
      return (document && HUB_NAME in document.servers) || (await records.get(path)).length > 0;
    }),
  );
  return CLIENTS.filter((_, index) => states[index]);
}

function placeOf(client: ClientKind, io: Io): ClientPlace {
  return { client, path: fileOf(client, io), records: new ConnectionRecords(dataFolder(io.env)) };
}

async function disconnectOne(client: ClientKind, options: Options, io: Io): Promise<object> {
  const place = placeOf(client, io);
  const { path } = place;
  if (options.dryRun) {
    const restored = await plannedReturns(place, await readClientDocument(client, path));
    if (!options.json) await print(io.stdout, dryText(client, path, restored));
    return { client: client.id, file: path, changed: false, restored };
  }
  const result = await disconnectClient(place);
  if (!options.json) await print(io.stdout, text(client, path, result));
  return { client: client.id, file: path, ...result };
}

function dryText({ program }: ClientKind, path: string, moved: readonly string[]): string {
  const back = moved.length > 0 ? ` and get back ${plainList(moved)}` : "";
  return `${program}: ${path} would lose \`${HUB_NAME}\`${back}.`;
}

function text({ program }: ClientKind, path: string, result: DisconnectionResult): string {
  const { changed, restored, lost = [], backup } = result;
  if (!changed) return `${program} is not connected (${path}).`;
  const back =
    restored.length > 0
      ? ` Its own servers are back: ${plainList(restored)}. The hub has them, too; ` +
        "`toolyard remove <name>` takes them out there."
      : "";
  const missing =
    lost.length > 0
      ? ` Not restored, because the backup of the file is missing: ${plainList(lost)}. ` +
        "The hub still has them; copy their settings from toolyard.toml."
      : "";
  const kept = backup === undefined ? "" : ` The file was changed meanwhile; its previous content is in ${backup}.`;
  return `${program} is disconnected (${path}).${back}${missing}${kept}`;
}
