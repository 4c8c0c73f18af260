import type { ClientKind } from "../../config/connect/clients.ts";
import { HUB_NAME } from "../../config/import/import-servers.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { exposure } from "../output/exposure.ts";
import { print } from "../output/io.ts";
import { plainLine, plainList } from "../output/table.ts";
import type { ClientPlan } from "./client-plans.ts";
import type { ConnectWork } from "./options.ts";

/** A completed or planned change for one client. */
export interface ConnectResult {
  readonly plan: ClientPlan;
  readonly entry: JsonObject;
  readonly changed: boolean;
  readonly backup?: string;
  /** Names of the servers that were moved out of the client's file. */
  readonly moved: readonly string[];
}

/** Returns the part of the JSON document for one client, without values of the servers' variables and headers. */
export function connectJson({ plan, entry, changed, backup, moved }: ConnectResult): JsonObject {
  const { client, file, added, stays, hidden, warnings } = plan;
  return {
    client: client.id,
    file,
    entry,
    changed,
    ...(backup === undefined ? {} : { backup }),
    moved,
    added: added.map(({ alias, kind, variables }) => ({ alias, kind, variables })),
    stays,
    hidden,
    warnings,
  };
}

/** Prints the change for one client. */
export async function printConnected(result: ConnectResult, work: ConnectWork): Promise<void> {
  const { plan, entry, changed, backup } = result;
  const { options, io, target } = work;
  const { client, file, stays, hidden } = plan;
  const say = (text: string): Promise<void> => print(io.stdout, text);
  if (options.dryRun)
    await say(`${client.program}: ${file} would get\n${JSON.stringify({ [HUB_NAME]: entry }, null, 2)}`);
  else if (changed) await say(`${client.program} is connected to ${target.path} (${file}).`);
  else await say(`${client.program} is connected to ${target.path} already (${file}).`);
  await printMoved(result, work);
  for (const { name, reason } of stays)
    if (!options.keep) await say(`${plainLine(name)} stays with ${client.program}: ${plainLine(reason)}.`);
  for (const { name, because } of hidden)
    await say(
      `The hub's ${plainLine(name)} is hidden from ${client.program}, which has ` +
        `${because === name ? "it" : `the same as ${plainLine(because)}`} with different settings.`,
    );
  if (backup !== undefined && changed)
    await say(`Its previous file: ${backup}. \`toolyard disconnect ${client.id}\` restores it.`);
  if (changed) await say(options.http ? `\`toolyard serve\` must run for it. ${client.next}` : client.next);
}

/** Prints the servers that the configuration now serves instead of the client, with the warnings of the import. */
async function printMoved({ plan, moved }: ConnectResult, { options, io, target }: ConnectWork): Promise<void> {
  const { client, added, warnings } = plan;
  const { dryRun = false } = options;
  const fresh = moved.filter((name) => added.some(({ alias }) => alias === name));
  const known = moved.filter((name) => !fresh.includes(name));
  const say = (text: string): Promise<void> => print(io.stdout, text);
  if (fresh.length > 0) await say(`${dryRun ? "Would move" : "Moved"} to ${target.path}: ${plainList(fresh)}.`);
  if (known.length > 0)
    await say(`Served by ${target.path} already, and no longer by ${client.program}: ${plainList(known)}.`);
  for (const warning of warnings) await print(io.stderr, plainLine(`warning: ${warning}`));
  if (dryRun) return;
  for (const notice of await exposure(target.path, added)) await print(io.stderr, `Note: ${notice}.`);
}

/** Returns the question about the moves of the clients. */
export function moveQuestion(plans: readonly ClientPlan[], target: string): string {
  const parts = plans.map(({ client, moves }) => ({ client, names: Object.keys(moves) }));
  const moving = parts.filter(({ names }) => names.length > 0);
  return (
    `Take over ${moveList(moving)} into ${target}?\n` +
    "They move out of the clients' files, so that no tool appears twice; the backups keep them. [Y/n] "
  );
}

function moveList(moving: readonly { readonly client: ClientKind; readonly names: readonly string[] }[]): string {
  const [first] = moving;
  if (first && moving.length === 1) return `${first.client.program}'s own servers (${plainList(first.names)})`;
  const lists = moving.map(({ client, names }) => `  ${client.program}: ${plainList(names)}`);
  return `the clients' own servers\n${lists.join("\n")}\n`;
}
