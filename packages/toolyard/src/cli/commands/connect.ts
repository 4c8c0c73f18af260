import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { CLIENTS, type ClientKind } from "../../config/connect/clients.ts";
import { connectClient } from "../../config/connect/connect-client.ts";
import { ConnectionRecords } from "../../config/connect/records.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { planClients, entryOf, type ClientPlan, type ClientPlans } from "../connecting/client-plans.ts";
import { connectJson, moveQuestion, printConnected, type ConnectResult } from "../connecting/connect-text.ts";
import type { ConnectOptions, ConnectWork } from "../connecting/options.ts";
import { limitOthers } from "../connecting/other-clients.ts";
import { addToTarget, configOf, targetFile, writtenServers } from "../connecting/target.ts";
import { chooseMode } from "../connecting/tool-count.ts";
import { EXIT, UsageError } from "../failure.ts";
import { storeTerminalEnvironment } from "../hub-access/desktop-environment.ts";
import { writeLauncher } from "../hub-access/launcher.ts";
import { writeAccepted } from "../input/consent.ts";
import { eachClient } from "../input/each-client.ts";
import { clientNamed, fileOf } from "../input/named-client.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import { table } from "../output/table.ts";
import type { CommandAction } from "../rows/command-row.ts";

export type { ConnectOptions } from "../connecting/options.ts";

export const run: CommandAction<ConnectOptions> = async ([name], options, io) => {
  const clients = name === undefined ? await present(options, io) : [clientNamed(name)];
  if (!options.yes && !options.dryRun && !io.ask)
    throw new UsageError("No user can be asked here. --yes accepts every offer, --dry-run only shows the changes.");
  const work: ConnectWork = { options, io, target: await targetFile(options, io) };
  const isNamed = name !== undefined;
  const planned = await acceptedPlans(clients, work, isNamed);
  const { done, failed } = await connectAll(planned.plans, work, isNamed);
  const left = [...planned.failed, ...failed];
  if (options.json)
    await printJson(io.stdout, {
      target: work.target.path,
      dryRun: options.dryRun === true,
      clients: done.map(connectJson),
      ...(left.length > 0 ? { failed: left } : {}),
    });
  return left.length > 0 ? EXIT.usage : EXIT.ok;
};

/** Returns the clients found on this machine, after the user has agreed to connect them. */
async function present(options: ConnectOptions, io: Io): Promise<readonly ClientKind[]> {
  const clients = CLIENTS.filter((client) => existsSync(fileOf(client, io)) || hasFolder(client, io));
  const rows = clients.map((client) => [client.id, client.program, fileOf(client, io)]);
  if (clients.length === 0)
    throw new UsageError(
      `No client was found on this machine. Name one: toolyard connect ${CLIENTS.map(({ id }) => id).join(" | ")}`,
    );
  if (!options.json) await printPainted(io.stdout, table(["name", "client", "file"], rows, io));
  if (options.yes || options.dryRun) return clients;
  if (!io.ask)
    throw new UsageError("Name one: toolyard connect <name>. --yes connects all, --dry-run only shows the changes.");
  return (await io.ask("Connect all of these? [Y/n] ")) ? clients : [];
}

/**
 * Returns whether the client's own folder exists. The folder of VS Code's extensions and the home folder are no
 * evidence.
 */
function hasFolder(client: ClientKind, io: Io): boolean {
  const folder = dirname(fileOf(client, io));
  return folder !== (io.env["HOME"] ?? io.env["USERPROFILE"]) && existsSync(folder);
}

/** Plans the moves of all clients, then shows the user one question about all plans. */
async function acceptedPlans(
  clients: readonly ClientKind[],
  work: ConnectWork,
  isNamed: boolean,
): Promise<ClientPlans> {
  const { options, io, target } = work;
  // The profile may exclude a moved server. The client would lose that server, so it keeps its entries.
  const keep = options.keep === true || options.profile !== undefined;
  const planned = await planClients(clients, work, { isNamed, keep });
  if (!keep && target.closed !== undefined && planned.plans.some(({ stays }) => stays.length > 0))
    await print(io.stderr, `The client's own servers stay with it: ${target.closed}.`);
  const isMoving = planned.plans.some(({ moves }) => Object.keys(moves).length > 0);
  if (!isMoving || options.yes || options.dryRun || (await io.ask?.(moveQuestion(planned.plans, target.path))))
    return planned;
  const kept = await planClients(
    planned.plans.map(({ client }) => client),
    work,
    { isNamed, keep: true },
  );
  return { plans: kept.plans, failed: [...planned.failed, ...kept.failed] };
}

/** Adds the servers to the configuration, chooses one tool mode for all clients, and writes the clients' files. */
async function connectAll(plans: readonly ClientPlan[], work: ConnectWork, named: boolean) {
  const { options, io, target } = work;
  const added = plans.flatMap((plan) => plan.added);
  if (!options.dryRun && added.length > 0) await writeAccepted(target.path, io, () => addToTarget(target, added));
  const mode = plans.length > 0 ? await chooseMode(plans, work) : undefined;
  const config = await configOf(target, io);
  const taken = added.map((one) => [one.alias, one.options] as const);
  const hub = { config, servers: new Map([...(await writtenServers(target)), ...taken]) };
  const settled = { ...work, options: { ...options, ...(mode === undefined ? {} : { mode }) } };
  if (!options.dryRun && !options.http && plans.length > 0) await prepareStart(io);
  const byClient = new Map(plans.map((plan) => [plan.client, plan]));
  const connect = async (client: ClientKind): Promise<ConnectResult> => {
    const plan = byClient.get(client)!;
    const result = await write(plan, await entryOf(plan, hub, settled), settled);
    if (!options.json) await printConnected(result, settled);
    return result;
  };
  const { done, failed } = await eachClient([...byClient.keys()], connect, { named, options, io });
  if (!options.dryRun) await limitOthers(new Set(byClient.keys()), hub, work);
  return { done, failed: failed?.failed ?? [] };
}

/** Writes the launcher and stores the environment, because a desktop program starts the hub with few variables. */
async function prepareStart(io: Io): Promise<void> {
  await writeLauncher(io);
  await storeTerminalEnvironment(io);
}

async function write(plan: ClientPlan, entry: ConnectResult["entry"], { options, io }: ConnectWork) {
  const { client, file: path, moves } = plan;
  if (options.dryRun) return { plan, entry, changed: false, moved: Object.keys(moves) };
  const records = new ConnectionRecords(dataFolder(io.env));
  return { plan, entry, ...(await connectClient({ client, path, records, entry, moves })) };
}
