import { CLIENTS, type ClientKind } from "../../config/connect/clients.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { ClientEntry } from "./home-page.ts";

const NAME = "toolyard";
/** Environment variable from which clients read the hub's token. */
const TOKEN_VARIABLE = "TOOLYARD_TOKEN";

/** Returns the configuration of each client for a hub at this URL. No entry contains the token itself. */
export function clientEntries(endpoint: string, isGuarded: boolean): readonly ClientEntry[] {
  const hub = { url: endpoint, ...(isGuarded && { tokenVariable: TOKEN_VARIABLE }) };
  return CLIENTS.map((client) => entryOf(client, client.entry(hub)));
}

function entryOf(client: ClientKind, entry: JsonObject | string): ClientEntry {
  const { id, program, next } = client;
  // If the client cannot use a URL, it starts a program, which `toolyard connect` configures.
  if (typeof entry === "string") return { program, place: `In a shell. ${next}`, text: `toolyard connect ${id}` };
  const link = LINKS[id]?.(entry);
  return {
    program,
    place: `In its file, or by: toolyard connect ${id} --http. ${next}`,
    text:
      client.form === "toml" ? tomlOf(client, entry) : JSON.stringify({ [client.table]: { [NAME]: entry } }, null, 2),
    ...(link !== undefined && { link }),
  };
}

const LINKS: Readonly<Partial<Record<string, (entry: JsonObject) => string>>> = {
  cursor: (entry) => {
    const config = Buffer.from(JSON.stringify(entry)).toString("base64");
    return `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${encodeURIComponent(config)}`;
  },
  vscode: (entry) => `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, ...entry }))}`,
  "vscode-insiders": (entry) =>
    `vscode-insiders:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, ...entry }))}`,
};

/** Formats an entry as TOML. All its values must be strings. */
function tomlOf({ table }: ClientKind, entry: JsonObject): string {
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return [`[${table}.${NAME}]`, ...lines].join("\n");
}
