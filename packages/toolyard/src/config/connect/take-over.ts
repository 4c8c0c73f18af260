import type { OptionSchema } from "../../core/options/option-schema.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { HUB_NAME, importServers, type ImportedServer } from "../import/import-servers.ts";
import { twinOf } from "../import/same-server.ts";
import type { ClientDocument } from "./client-document.ts";
import type { ClientKind } from "./clients.ts";

/** What becomes of a client's servers when the hub takes them over. */
export interface TakeOver {
  /** To be added to the configuration. */
  readonly added: readonly ImportedServer[];
  /** Names that move out of the client's file: those added, and those that the configuration has already. */
  readonly moves: readonly string[];
  /** Those that stay with the client, and why. */
  readonly stays: readonly { readonly name: string; readonly reason: string }[];
}

export interface TakeOverOptions {
  readonly client: ClientKind;
  readonly path: string;
  readonly document: ClientDocument;
  /** The file that they are meant for. */
  readonly target: string;
  /** What it has already, by name. */
  readonly taken: ReadonlyMap<string, JsonObject>;
  readonly schema: OptionSchema;
  /** The environment that decides which referenced variables are set. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Servers that a client keeps for one folder only stay where they are. */
const NO_FOLDER = "";

/** Looks which of a client's servers the hub can serve in its place. */
export async function planTakeOver(options: TakeOverOptions): Promise<TakeOver> {
  const { client, path, document, taken } = options;
  const names = Object.keys(document.servers).filter((name) => name !== HUB_NAME);
  const report = await importServers([{ program: client.program, path }], { ...options, cwd: NO_FOLDER });
  const imported = new Map(report.servers.map((server) => [server.alias, server]));
  const reasons = new Map(report.skipped.map(({ alias, reason }) => [alias, reason]));
  const same = new Set(report.skipped.filter(({ isSame }) => isSame).map(({ alias }) => alias));
  const plan = { added: [] as ImportedServer[], moves: [] as string[], stays: [] as TakeOver["stays"][number][] };
  for (const name of names) {
    const server = imported.get(name);
    const reason = server ? stayReason(server) : same.has(name) ? undefined : (reasons.get(name) ?? UNREADABLE);
    if (reason !== undefined) plan.stays.push({ name, reason });
    else plan.moves.push(name);
    if (server && reason === undefined && twinOf(server.options, taken) === undefined) plan.added.push(server);
  }
  return plan;
}

const UNREADABLE = "it has neither a command nor an address";

/** A value that only the client has, because it asks its user or has another environment. */
function stayReason({ variables }: ImportedServer): string | undefined {
  return variables.length === 0
    ? undefined
    : `it needs a value for ${variables.join(", ")}; set that as a variable and take it over with \`toolyard import\``;
}
