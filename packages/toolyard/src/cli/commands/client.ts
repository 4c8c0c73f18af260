import { listMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { EXIT, UsageError } from "../failure.ts";
import { withAccounts } from "../hub-access/accounts.ts";
import { print, printJson, printPainted } from "../output/io.ts";
import { table } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

/** Runs `toolyard client list`. */
export const list: CommandAction<SharedOptions> = async (_ids, options, io) => {
  const clients = (await withAccounts(options, io, ({ clients: registered }) => registered.list())).map(described);
  if (options.json) await printJson(io.stdout, clients);
  else if (clients.length === 0) await print(io.stdout, "No client has registered itself.");
  else {
    const rows = clients.map(({ id, name, redirects, registered }) => [id, name, redirects.join(" "), registered]);
    await printPainted(io.stdout, table(["client", "name", "redirects", "registered"], rows, io));
  }
  return EXIT.ok;
};

/** Runs `toolyard client remove`. */
export const remove: CommandAction<SharedOptions> = async ([id = ""], options, io) => {
  if (!(await withAccounts(options, io, ({ clients }) => clients.remove(id))))
    throw new UsageError(
      `There is no registered client ${JSON.stringify(id)}. \`toolyard client list\` shows all of them.`,
    );
  if (options.json) await printJson(io.stdout, { removed: id });
  else await print(io.stdout, `Removed the client ${id}. Its access tokens are not accepted any more.`);
  return EXIT.ok;
};

/** Returns a registration without its secret. */
function described(client: JsonObject) {
  const issuedAt = client["client_id_issued_at"];
  return {
    id: stringMember(client, "client_id") ?? "",
    name: stringMember(client, "client_name") ?? "",
    redirects: listMember(client, "redirect_uris").filter((one): one is string => typeof one === "string"),
    registered: typeof issuedAt === "number" ? new Date(issuedAt * 1000).toISOString() : "",
  };
}
