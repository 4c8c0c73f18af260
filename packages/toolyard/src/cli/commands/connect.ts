import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { CLIENTS, clientFile, findClient, type ClientKind } from "../../config/connect/clients.ts";
import { readClientDocument } from "../../config/connect/client-document.ts";
import { connectClient } from "../../config/connect/connect-client.ts";
import { ConnectionRecords } from "../../config/connect/records.ts";
import { planTakeOver, type TakeOver } from "../../config/connect/take-over.ts";
import { editConfigFile } from "../../config/edit/config-file.ts";
import { addServers, serversOf } from "../../config/edit/sources.ts";
import { HUB_NAME, type ImportedServer } from "../../config/import/import-servers.ts";
import { readDocument } from "../../config/document.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { locateConfig, userConfigFile } from "../../config/locate.ts";
import { configTemplate } from "../../config/template.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import { CONFIG_SCHEMA, type LoadedHubConfig } from "../../hub/schema.ts";
import { assertReplaceable, replaceFile } from "../../config/edit/replace-file.ts";
import { within } from "../../core/timing/wait.ts";
import type { Hub } from "../../hub/hub.ts";
import { settled } from "../../hub/sources/settled.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { assertAccepted, writeAccepted } from "../input/consent.ts";
import { exposure } from "../output/exposure.ts";
import { eachClient } from "../input/each-client.ts";
import { EXIT, UsageError } from "../failure.ts";
import { hubEntry } from "../hub-access/hub-entry.ts";
import { tellInstalls } from "../installs.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import { showLive } from "../live/live.ts";
import { sourceLine } from "../live/sources.ts";
import { withHub } from "../hub-access/session.ts";
import { plainLine, plainList, table } from "../output/table.ts";

export interface ConnectOptions extends SharedOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly http?: boolean;
  readonly own?: boolean;
  /** Its own servers stay with the client. */
  readonly keep?: boolean;
  readonly mode?: string;
  readonly era?: "auto" | "legacy";
  /** Name of the profile that the client gets. */
  readonly profile?: string;
}

export const run: CommandAction<ConnectOptions> = async ([name], options, io) => {
  const clients = name === undefined ? await present(options, io) : [clientNamed(name)];
  if (!options.yes && !options.dryRun && !io.ask)
    throw new UsageError(
      "There is nobody to ask here. --yes takes every offer, --dry-run only shows what would be done.",
    );
  const target = await targetFile(options, io);
  const work = (client: ClientKind): Promise<ConnectResult> => connectOne(client, { options, io, target });
  const { done, failed } = await eachClient(clients, work, { named: name !== undefined, options, io });
  if (options.json)
    await printJson(io.stdout, { target: target.path, dryRun: options.dryRun === true, clients: done, ...failed });
  return failed ? EXIT.usage : EXIT.ok;
};

export function clientNamed(name: string): ClientKind {
  const found = findClient(name);
  if ("id" in found) return found;
  const near = found.length > 0 ? ` Did you mean ${found.join(" or ")}?` : "";
  throw new UsageError(
    `No client is known by the name ${name}.${near} There are ${CLIENTS.map(({ id }) => id).join(", ")}.`,
  );
}

export function fileOf(client: ClientKind, io: Io): string {
  return clientFile(client, { variables: io.env, cwd: io.cwd, platform: process.platform });
}

/** Clients that are on this machine, by their files. Whoever is asked may take them all. */
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
    throw new UsageError(
      "Name one of them: toolyard connect <name>. --yes connects all, --dry-run only shows what would be done.",
    );
  return (await io.ask("Connect all of these? [Y/n] ")) ? clients : [];
}

/** A folder of its own; those of VS Code's extensions and the home folder say nothing. */
function hasFolder(client: ClientKind, io: Io): boolean {
  const folder = dirname(fileOf(client, io));
  return folder !== (io.env["HOME"] ?? io.env["USERPROFILE"]) && existsSync(folder);
}

/** The configuration that is connected. */
interface ConnectTarget {
  readonly path: string;
  readonly files: readonly string[];
  /** Absent: servers cannot be added, and this says why. */
  readonly closed?: string;
}

async function targetFile(options: ConnectOptions, io: Io): Promise<ConnectTarget> {
  // From now on a client would start it, where nobody is asked.
  if (!options.dryRun) await assertAccepted(options, io);
  const found = locateConfig(options.config ?? [], io.env, io.cwd);
  const path = found.at(-1) ?? userConfigFile(io.env);
  if (found.length === 0 && !options.dryRun) await replaceFile(path, configTemplate(CONFIG_SCHEMA));
  const isJson = /\.json[c5]?$/i.test(path);
  return {
    path,
    files: found.length === 0 ? [path] : found,
    ...(isJson ? { closed: `${path} is JSON, to which nothing is added` } : {}),
  };
}

interface ConnectJob {
  readonly options: ConnectOptions;
  readonly io: Io;
  readonly target: ConnectTarget;
}

/** What was done, or would be, for one client. */
interface ConnectResult {
  readonly client: string;
  readonly file: string;
  readonly entry: JsonObject;
  readonly changed: boolean;
  readonly backup?: string;
  readonly moved: readonly string[];
  readonly added: TakeOver["added"];
  readonly stays: TakeOver["stays"];
}

async function connectOne(client: ClientKind, work: ConnectJob): Promise<ConnectResult> {
  const { options, io } = work;
  const file = fileOf(client, io);
  // What cannot be written is found before anybody is asked, and before servers move.
  await entryFor(client, await configOf(work), work);
  if (!options.dryRun) await assertReplaceable(file);
  const plan = await takeOver(client, file, work);
  if (!options.dryRun) await writeAccepted(work.target.path, io, () => takeIn(work.target, plan.added));
  const config = await configOf(work);
  const mode = await modeFor(client, config, work);
  const asked = { ...options, ...(mode === undefined ? {} : { mode }) };
  const entry = await entryFor(client, config, { ...work, options: asked });
  const { moves: moved, added, stays } = plan;
  const records = new ConnectionRecords(dataFolder(io.env));
  const result = options.dryRun
    ? { changed: false }
    : await connectClient({ client, path: file, records, entry, moves: moved });
  const done = { client: client.id, file, entry, ...result, moved, added, stays };
  if (!options.json) await tell(client, done, work);
  return done;
}

function configOf({ target, io }: ConnectJob): Promise<LoadedHubConfig> {
  return loadHubConfig({ files: target.files.filter((file) => existsSync(file)), variables: io.env });
}

async function entryFor(
  client: ClientKind,
  config: LoadedHubConfig,
  { options, io, target }: ConnectJob,
): Promise<JsonObject> {
  const files = config.files.length > 0 ? config.files : target.files;
  const entry = client.entry(await hubEntry({ ...config, files }, options, io));
  if (typeof entry === "string") throw new UsageError(`${client.program} cannot be connected so: ${entry}.`);
  return entry;
}

const NOTHING: TakeOver = { added: [], moves: [], stays: [] };

async function takeOver(client: ClientKind, path: string, { options, io, target }: ConnectJob): Promise<TakeOver> {
  const document = await readClientDocument(client, path);
  if (options.keep || Object.keys(document.servers).every((name) => name === HUB_NAME)) return NOTHING;
  if (target.closed !== undefined) {
    await print(io.stderr, `The client's own servers stay with it: ${target.closed}.`);
    return NOTHING;
  }
  const plan = await planTakeOver({
    client,
    path,
    document,
    target: target.path,
    taken: await takenIn(target),
    schema: CONFIG_SCHEMA,
    variables: io.env,
  });
  if (plan.moves.length === 0 || options.yes || options.dryRun) return plan;
  const question =
    `Take over ${client.program}'s own servers (${plainList(plan.moves)}) into ${target.path}?\n` +
    "They move out of its file, so that no tool appears twice; the backup keeps them. [Y/n] ";
  return (await io.ask?.(question)) ? plan : NOTHING;
}

async function takenIn({ files }: ConnectTarget): Promise<ReadonlyMap<string, JsonObject>> {
  const documents = await Promise.all(files.filter((file) => existsSync(file)).map((file) => readDocument(file)));
  const servers = documents.flatMap(({ tree }) => serversOf(tree, CONFIG_SCHEMA));
  return new Map(servers.map(({ name, options }) => [name, options]));
}

async function takeIn(target: ConnectTarget, servers: readonly ImportedServer[]): Promise<void> {
  if (servers.length === 0) return;
  counts.delete(target);
  const added = servers.map(({ alias: name, kind, options, program }) => {
    return { kind, name, options, comment: `from ${program}` };
  });
  await editConfigFile(target.path, CONFIG_SCHEMA, (document) => addServers(document, added, CONFIG_SCHEMA));
}

/** Above this many tools a model chooses worse, and each request carries all their descriptions. */
const MANY_TOOLS = 40;
/** Servers that have not answered by then are not counted. */
const COUNT_MS = 20_000;
/** What has to be downloaded first gets this long. */
const COUNT_DOWNLOADED_MS = 180_000;

/** What the client's lists are to show; with many tools, what it is offered. */
async function modeFor(
  client: ClientKind,
  config: LoadedHubConfig,
  { options, io, target }: ConnectJob,
): Promise<string | undefined> {
  // A profile is the selection for its client already.
  const isChosen = options.mode !== undefined || options.profile !== undefined;
  if (isChosen || config.tree.server?.tool_mode !== undefined) return options.mode;
  const what = await manyTools({ options, io, target }, config);
  if (what === undefined) return undefined;
  if (options.yes || options.dryRun) {
    if (!options.json)
      await print(
        io.stdout,
        `The hub ${what}: ${client.program} is to find them by search (discovery mode). ` +
          "With --mode normal it reads all of them.",
      );
    return "discovery";
  }
  const question =
    `The hub ${what}. Let ${client.program} find them by search (discovery mode) instead of reading all ` +
    "of them with every request? [Y/n] ";
  return (await io.ask?.(question)) ? "discovery" : undefined;
}

/** What the hub has more than `MANY_TOOLS` of. So many servers are not started to count their tools. */
async function manyTools({ options, io, target }: ConnectJob, { tree }: LoadedHubConfig): Promise<string | undefined> {
  const servers = serversOf(tree, CONFIG_SCHEMA).filter(({ options: { enabled } }) => enabled !== false).length;
  if (servers > MANY_TOOLS) return `has ${servers} servers`;
  const count = await toolCount(target, options, io);
  return count > MANY_TOOLS ? `lists ${count} tools` : undefined;
}

/** Counted once for all clients, as long as no servers are added. */
const counts = new WeakMap<ConnectTarget, Promise<number>>();

function toolCount(target: ConnectTarget, { config: _named, ...options }: ConnectOptions, io: Io): Promise<number> {
  const known = counts.get(target);
  if (known) return known;
  const named = target.files.filter((file) => existsSync(file));
  const counted = withHub({ ...options, config: named, lazy: true, logLevel: "error" }, io, async (toolyard, hub) => {
    await shown(hub, { options, io }, () => within(settled(hub, COUNT_MS, { installs: true }), COUNT_DOWNLOADED_MS));
    return (await toolyard.list({ mode: "normal" })).length;
  });
  counts.set(target, counted);
  return counted;
}

/** Servers are started for the count, which takes minutes where they are downloaded first. */
async function shown(hub: Hub, { options, io }: Pick<ConnectJob, "options" | "io">, work: () => Promise<unknown>) {
  const json = options.json === true;
  const live = showLive(io, { read: () => hub.port.sources().flatMap(sourceLine), json, plain: false });
  const quiet = tellInstalls(hub, options, io);
  try {
    await work();
  } finally {
    quiet();
    live.end();
  }
}

async function tell(client: ClientKind, done: ConnectResult, { options, io, target }: ConnectJob): Promise<void> {
  const { file, entry, stays, backup, changed } = done;
  const say = (text: string): Promise<void> => print(io.stdout, text);
  if (options.dryRun)
    await say(`${client.program}: ${file} would get\n${JSON.stringify({ [HUB_NAME]: entry }, null, 2)}`);
  else if (changed) await say(`${client.program} is connected to ${target.path} (${file}).`);
  else await say(`${client.program} is connected to ${target.path} already (${file}).`);
  await tellMoved(client, done, { options, io, target });
  for (const { name, reason } of stays)
    await say(`${plainLine(name)} stays with ${client.program}: ${plainLine(reason)}.`);
  if (backup !== undefined && changed)
    await say(`Its file as it was: ${backup}. \`toolyard disconnect ${client.id}\` puts it back.`);
  if (changed) await say(options.http ? `\`toolyard serve\` must run for it. ${client.next}` : client.next);
}

/** Which servers the configuration has in the client's place, and who else may read what came with them. */
async function tellMoved(
  client: ClientKind,
  { moved, added }: ConnectResult,
  { options: { dryRun = false }, io, target }: ConnectJob,
): Promise<void> {
  const fresh = moved.filter((name) => added.some(({ alias }) => alias === name));
  const known = moved.filter((name) => !fresh.includes(name));
  const say = (text: string): Promise<void> => print(io.stdout, text);
  if (fresh.length > 0) await say(`${dryRun ? "Would move" : "Moved"} to ${target.path}: ${plainList(fresh)}.`);
  if (known.length > 0)
    await say(`Served by ${target.path} already, and no longer by ${client.program}: ${plainList(known)}.`);
  if (dryRun) return;
  for (const notification of await exposure(target.path, added)) await print(io.stderr, `Note: ${notification}.`);
}
