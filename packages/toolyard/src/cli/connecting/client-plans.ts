import { existsSync } from "node:fs";
import type { ClientKind } from "../../config/connect/clients.ts";
import { parseClientDocument, readClientDocument, type ClientDocument } from "../../config/connect/client-document.ts";
import { hubBlock } from "../../config/connect/client-limits.ts";
import { hiddenServers, type HiddenServer } from "../../config/connect/hidden-servers.ts";
import { ConnectionRecords } from "../../config/connect/records.ts";
import { planTakeOver, type TakeOver } from "../../config/connect/take-over.ts";
import { assertReplaceable } from "../../config/edit/replace-file.ts";
import { HUB_NAME, isHubEntry } from "../../config/import/import-servers.ts";
import { dataFolder } from "../../core/data-folder.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { readText } from "../../files/read-text.ts";
import { CONFIG_SCHEMA, type LoadedHubConfig } from "../../hub/schema.ts";
import { UsageError } from "../failure.ts";
import { hubEntry } from "../hub-access/hub-entry.ts";
import { eachClient } from "../input/each-client.ts";
import { fileOf } from "../input/named-client.ts";
import type { Io } from "../output/io.ts";
import { denyPatterns } from "./deny-patterns.ts";
import type { ConnectWork, ConnectedHubState } from "./options.ts";
import { configOf, writtenServers } from "./target.ts";

/** The planned change for one client. */
export interface ClientPlan extends TakeOver {
  readonly client: ClientKind;
  readonly file: string;
  /** Servers of the hub that are withheld from this client. */
  readonly hidden: readonly HiddenServer[];
}

export interface ClientPlans {
  readonly plans: readonly ClientPlan[];
  readonly failed: readonly { readonly client: string; readonly reason: string }[];
}

interface PlanOptions {
  /** True if the user named this client. Its failure is then the result of the command. */
  readonly isNamed: boolean;
  readonly keep: boolean;
}

/**
 * Plans the moves of every client before anything is written, so that the result does not depend on the order of the
 * clients. A client that cannot be connected is omitted, together with its servers.
 */
export async function planClients(
  clients: readonly ClientKind[],
  work: ConnectWork,
  options: PlanOptions,
): Promise<ClientPlans> {
  const { isNamed: named, keep } = options;
  const taken = new Map(await writtenServers(work.target));
  const config = await configOf(work.target, work.io);
  const each = { named, options: work.options, io: work.io };
  const first = await eachClient(clients, (client) => planClient(client, { work, taken, keep, config }), each);
  const find = async (plan: ClientPlan): Promise<ClientPlan> => {
    const found = { ...plan, hidden: hiddenServers(plan.own, taken) };
    await entryOf(found, { config, servers: taken }, work);
    return found;
  };
  const byClient = new Map(first.done.map((plan) => [plan.client, plan]));
  const second = await eachClient([...byClient.keys()], (client) => find(byClient.get(client)!), each);
  const failed = [...(first.failed?.failed ?? []), ...(second.failed?.failed ?? [])];
  if (!second.failed) return { plans: second.done, failed };
  // Servers of failed clients are not added, and the plans of other clients may depend on them, so the remaining
  // clients are planned again.
  const left = second.done.map(({ client }) => client);
  const again = await planClients(left, work, options);
  return { plans: again.plans, failed: [...failed, ...again.failed] };
}

interface PlanContext {
  readonly work: ConnectWork;
  /**
   * Servers of the hub, including those of clients that were planned before. The plan of this client adds its own
   * servers.
   */
  readonly taken: Map<string, JsonObject>;
  readonly keep: boolean;
  readonly config: LoadedHubConfig;
}

async function planClient(client: ClientKind, { work, taken, keep, config }: PlanContext): Promise<ClientPlan> {
  const { options, io, target } = work;
  const file = fileOf(client, io);
  // Detects clients whose entry cannot be written, before the user is asked and before servers are moved.
  await entryOf({ client, hidden: [] }, { config, servers: taken }, work);
  if (!options.dryRun) await assertReplaceable(file);
  const document = await readClientDocument(client, file);
  assertFree(client, document);
  const plan = await planTakeOver({
    client,
    path: file,
    document,
    target: target.path,
    taken,
    schema: CONFIG_SCHEMA,
    variables: io.env,
    movedBefore: await movedBefore(client, file, io),
    keep: keep || target.closed !== undefined,
  });
  for (const { alias, options: own } of plan.added) taken.set(alias, own);
  return { ...plan, client, file, hidden: [] };
}

/** Throws a `UsageError` if the entry would replace a server of the user, or is unusable. */
function assertFree(client: ClientKind, { servers, tree }: ClientDocument): void {
  if (HUB_NAME in servers && !isHubEntry(servers[HUB_NAME]))
    throw new UsageError(
      `${client.program} already has a server with the name \`${HUB_NAME}\`, which the hub's entry would replace. ` +
        "Rename it in the client's file first.",
    );
  const key = hubBlock(client, tree);
  if (key !== undefined)
    throw new UsageError(
      `${client.program} may not use a server with the name \`${HUB_NAME}\`, by \`${key}\` in its file. ` +
        "Allow it there first.",
    );
}

/** Returns the entries that earlier runs of `connect` moved out of the file, read from its backups. */
export async function movedBefore(client: ClientKind, file: string, io: Io): Promise<JsonObject> {
  const entries: Record<string, unknown> = {};
  for (const { backup, moved } of await new ConnectionRecords(dataFolder(io.env)).get(file)) {
    if (backup === undefined || moved.length === 0 || !existsSync(backup)) continue;
    const { servers } = await parseClientDocument(client, backup, await readText(backup));
    for (const name of moved) if (name in servers) entries[name] = servers[name];
  }
  return entries;
}

/** Returns the client's entry for the hub. Throws a `UsageError` if the client cannot have one. */
export async function entryOf(
  { client, hidden }: Pick<ClientPlan, "client" | "hidden">,
  hub: ConnectedHubState,
  { options, io, target }: ConnectWork,
): Promise<JsonObject> {
  const { config } = hub;
  const files = config.files.length > 0 ? config.files : target.files;
  if (options.http && hidden.length > 0)
    throw new UsageError(
      `${client.program} has ${hidden.map(({ because }) => `\`${because}\``).join(", ")} with settings of its own, ` +
        "and a hub at an address would also give it the one without them. Leave --http out, or use the same settings.",
    );
  const deny = denyPatterns(hidden, hub);
  const entry = client.entry(await hubEntry({ ...config, files }, { ...options, deny }, io));
  if (typeof entry === "string") throw new UsageError(`${client.program} cannot be connected so: ${entry}.`);
  return entry;
}
