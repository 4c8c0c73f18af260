import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import type { View } from "../../../core/ports/hub-port.ts";
import { withProfile } from "../../../core/ports/profiles.ts";
import { CLIENTS, type ClientKind } from "../../../config/connect/clients.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { ConsoleParts } from "../parts.ts";
import type { ProfileClient, ProfileDetail } from "../user-types.ts";
import type { AdminRequest } from "./route.ts";

const MAX_NAMES = 5000;
/** Environment variable from which clients read the hub's token. */
const TOKEN_VARIABLE = "TOOLYARD_TOKEN";
const LISTS = ["tools", "prompts", "resources"] as const;

/** Returns the content of a profile for a caller with full rights, without waiting for sources. */
export async function profileDetail(
  { names: [name = ""], exchange }: AdminRequest,
  { profiles, hub, access }: Pick<ConsoleParts, "profiles" | "hub" | "access">,
): Promise<ProfileDetail> {
  const profile = profiles.find(name);
  if (!profile) throw new Refusal(404, `There is no profile ${JSON.stringify(name)}.`);
  const principal = withProfile(LOCAL_PRINCIPAL, profile) ?? LOCAL_PRINCIPAL;
  const view: View = { mode: "all", principal };
  const lists = await Promise.all(LISTS.map((kind) => hub.list(kind, view, { waits: false })));
  const [tools = [], prompts = [], resources = []] = lists.map(({ entries }) =>
    entries.slice(0, MAX_NAMES).map((entry) => String(entry["name"] ?? entry["uri"])),
  );
  const { title, instructions } = profile;
  const url = `${exchange.http.baseUrl}/mcp/${name}`;
  return {
    name,
    ...(title !== undefined && { title }),
    ...(instructions !== undefined && { instructions }),
    tools,
    prompts,
    resources,
    clients: CLIENTS.map((client) => clientEntry(client, { name, url, isGuarded: access.isGuarded })),
  };
}

interface ProfilePlace {
  readonly name: string;
  readonly url: string;
  readonly isGuarded: boolean;
}

/**
 * Returns the text that configures a client. If the client cannot use an address, the text is the command `toolyard
 * connect`, which configures a program that the client starts.
 */
function clientEntry(client: ClientKind, { name, url, isGuarded }: ProfilePlace): ProfileClient {
  const { id, program, table, form } = client;
  const command = `toolyard connect ${id} --profile ${name}`;
  const entry = client.entry({ url, ...(isGuarded && { tokenVariable: TOKEN_VARIABLE }) });
  if (typeof entry === "string") return { program, place: command, text: command };
  const key = `toolyard-${name}`;
  const lines = Object.entries(entry).map(([member, value]) => `${member} = ${JSON.stringify(value)}`);
  const toml = [`[${table}.${key}]`, ...lines].join("\n");
  const text = form === "toml" ? toml : JSON.stringify({ [table]: { [key]: entry } }, null, 2);
  return { program, place: command, text };
}
