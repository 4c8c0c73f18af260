import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { HUB_NAME, importServers, serversOfTable, type ImportedServer } from "../import/import-servers.ts";
import type { ImportOptions } from "../import/import-servers.ts";
import type { KnownFile } from "../import/known-files.ts";
import { twinOf } from "../import/same-server.ts";
import type { ClientDocument } from "./client-document.ts";
import type { ClientKind } from "./clients.ts";
import { clientLimits } from "./client-limits.ts";

/** A server that stays in the client's file. */
export interface StayingServer {
  readonly name: string;
  readonly reason: string;
}

/** A server of a client, for comparison with the hub's servers. */
export interface OwnServer {
  readonly name: string;
  readonly options: JsonObject;
  /** True if the hub will serve this server instead of the client. */
  readonly moves: boolean;
}

/** The servers of a client, and their treatment when the hub takes them over. */
export interface TakeOver {
  /** Servers to be added to the configuration. */
  readonly added: readonly ImportedServer[];
  /** Entries to move out of the client's file: added servers, and servers that the configuration already has. */
  readonly moves: Readonly<Record<string, unknown>>;
  readonly stays: readonly StayingServer[];
  readonly own: readonly OwnServer[];
  /** Warnings of the import, as in `toolyard import`. */
  readonly warnings: readonly string[];
}

export interface TakeOverOptions extends Omit<ImportOptions, "cwd"> {
  readonly client: ClientKind;
  readonly path: string;
  readonly document: ClientDocument;
  /** Servers that an earlier `connect` moved out of the file, as client entries. */
  readonly movedBefore: JsonObject;
  /** True if the client keeps its servers. */
  readonly keep: boolean;
}

/**
 * Current folder for the import. It matches no folder, because servers that a client has for one folder only stay in
 * its file.
 */
const NO_FOLDER = "";

/** Decides which of a client's servers the hub can serve instead, without changing the user's rights. */
export async function planTakeOver(options: TakeOverOptions): Promise<TakeOver> {
  const { client, path, document, taken, keep } = options;
  const file = { program: client.program, path };
  const report = await importServers([file], { ...options, cwd: NO_FOLDER });
  const imported = new Map(report.servers.map((server) => [server.alias, server]));
  const reasons = new Map(report.skipped.map(({ alias, reason }) => [alias, reason]));
  const same = new Set(report.skipped.filter(({ isSame }) => isSame).map(({ alias }) => alias));
  const all = new Map(readTable(document.servers, file, options).map((server) => [server.alias, server]));
  const limits = await clientLimits(client, path, document.tree);
  const plan = { added: [] as ImportedServer[], moves: {} as Record<string, unknown>, stays: [] as StayingServer[] };
  for (const name of Object.keys(document.servers).filter((one) => one !== HUB_NAME)) {
    const server = imported.get(name) ?? (same.has(name) ? all.get(name) : undefined);
    const reason = keep
      ? KEPT
      : (limits.get(name) ?? (server ? stayReason(server) : (reasons.get(name) ?? UNREADABLE)));
    if (reason !== undefined) {
      plan.stays.push({ name, reason });
      continue;
    }
    plan.moves[name] = document.servers[name];
    const fresh = imported.get(name);
    if (fresh && twinOf(fresh.options, taken) === undefined) plan.added.push(fresh);
  }
  const before = readTable(options.movedBefore, file, options);
  const own = [
    ...[...all.values()].map(({ alias, options: own }) => ({ name: alias, options: own, moves: alias in plan.moves })),
    ...before
      .filter(({ alias }) => !all.has(alias))
      .map(({ alias, options: own }) => ({ name: alias, options: own, moves: true })),
  ].filter(({ name }) => name !== HUB_NAME);
  return { ...plan, own, warnings: keep ? [] : report.warnings };
}

function readTable(table: JsonObject, file: KnownFile, options: TakeOverOptions): readonly ImportedServer[] {
  const entries = Object.entries(table).filter(([, entry]) => isJsonObject(entry));
  return serversOfTable(Object.fromEntries(entries), file, { ...options, cwd: NO_FOLDER });
}

const KEPT = "you chose that it keeps its servers, or that it gets a profile";
const UNREADABLE = "it has neither a command nor a URL";

/** Returns why a server must stay: a value that only the client has, or a setting that the hub does not support. */
function stayReason({ variables, uncarried }: ImportedServer): string | undefined {
  if (uncarried.length > 0)
    return (
      `the hub has no setting for its ${uncarried.map((key) => `\`${key}\``).join(", ")}, or does not support ` +
      "its value; " +
      "remove it there to move the server"
    );
  return variables.length === 0
    ? undefined
    : `it needs a value for ${variables.join(", ")}; set that variable and import the server with \`toolyard import\``;
}
