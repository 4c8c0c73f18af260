import { readClientDocument } from "../../config/connect/client-document.ts";
import { CLIENTS, type ClientKind } from "../../config/connect/clients.ts";
import { connectClient } from "../../config/connect/connect-client.ts";
import { hiddenServers } from "../../config/connect/hidden-servers.ts";
import { ConnectionRecords } from "../../config/connect/records.ts";
import { planTakeOver } from "../../config/connect/take-over.ts";
import { HUB_NAME } from "../../config/import/import-servers.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { ConfigError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { fileOf } from "../input/named-client.ts";
import { print } from "../output/io.ts";
import { movedBefore } from "./client-plans.ts";
import { denyPatterns } from "./deny-patterns.ts";
import type { ConnectWork, ConnectedHubState } from "./options.ts";

/**
 * Hides new servers of the hub from already connected clients if their own files withhold the same program. Otherwise,
 * connecting one client could grant additional access to another one.
 */
export async function limitOthers(
  connected: ReadonlySet<ClientKind>,
  hub: ConnectedHubState,
  work: ConnectWork,
): Promise<void> {
  for (const client of CLIENTS.filter((one) => !connected.has(one))) {
    try {
      await limitClient(client, hub, work);
    } catch (error) {
      // The file of another client cannot be read. This does not affect the connected client, so it is skipped.
      if (!(error instanceof ConfigError)) throw error;
    }
  }
}

async function limitClient(client: ClientKind, hub: ConnectedHubState, work: ConnectWork): Promise<void> {
  const { servers } = hub;
  const { io, target } = work;
  const path = fileOf(client, io);
  const document = await readClientDocument(client, path);
  const entry = document.servers[HUB_NAME];
  const words = isJsonObject(entry) ? programWords(entry) : undefined;
  if (!isJsonObject(entry) || !words?.list.includes(target.path)) return;
  const { own } = await planTakeOver({
    client,
    path,
    document,
    target: target.path,
    taken: servers,
    schema: CONFIG_SCHEMA,
    variables: io.env,
    movedBefore: await movedBefore(client, path, io),
    keep: true,
  });
  const hidden = hiddenServers(own, servers);
  const missing = denyPatterns(hidden, hub).filter((pattern) => !words.list.includes(pattern));
  if (missing.length === 0) return;
  const list = [...words.list, ...missing.flatMap((pattern) => ["--deny", pattern])];
  const records = new ConnectionRecords(dataFolder(io.env));
  await connectClient({ client, path, records, entry: { ...entry, [words.key]: list }, moves: {} });
  const names = hidden.map(({ name }) => name).join(", ");
  await print(io.stderr, `Note: ${client.program} keeps its limits: the hub hides ${names} from it (${path}).`);
}

/** Returns the member of an entry that lists the hub's arguments: `args`, or `command` in OpenCode's file. */
function programWords(entry: JsonObject): { readonly key: string; readonly list: readonly unknown[] } | undefined {
  for (const key of ["args", "command"]) {
    const list = entry[key];
    if (Array.isArray(list)) return { key, list };
  }
  return undefined;
}
