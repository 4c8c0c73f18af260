import { isoNow } from "../../core/text/iso-now.ts";
import type { SignInRecord } from "../../signin/records.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { EXIT, UsageError } from "../failure.ts";
import { print, printJson, printPainted, type Io } from "../output/io.ts";
import { withVault } from "../sign-ins.ts";
import { table } from "../output/table.ts";

export const list: CommandAction<SharedOptions> = async (_args, options, io) => {
  const { signIns, issuers } = await contents(options, io);
  if (options.json) await printJson(io.stdout, { signIns, issuers });
  else if (signIns.length + issuers.length === 0) await print(io.stdout, "The vault is empty.");
  else {
    const rows = signIns.map(({ source, person, issuer, state, until }) => [source, person, issuer, state, until]);
    // A source with configured credentials has no sign-in, so its issuer gets a separate row.
    const others = issuers.filter((one) => !signIns.some(({ source }) => source === one.source));
    rows.push(...others.map(({ source, issuer }) => [source, "", issuer, "credentials bound", ""]));
    await printPainted(io.stdout, table(["source", "person", "issuer", "state", "until"], rows, io));
  }
  return EXIT.ok;
};

export const remove: CommandAction<SharedOptions> = async ([name = ""], options, io) => {
  const removed = await withVault(options, io, async ({ vault, issuers }) => {
    const found = (await vault.all()).filter(({ source }) => source === name);
    for (const record of found) await vault.update(record, () => undefined);
    return found.length + (await issuers.forget(name));
  });
  if (removed === 0)
    throw new UsageError(
      `The vault holds nothing for ${JSON.stringify(name)}. \`toolyard vault list\` shows what it holds.`,
    );
  if (options.json) await printJson(io.stdout, { removed: name });
  else await print(io.stdout, `Removed ${name} from the vault, and what its server knew the hub as.`);
  return EXIT.ok;
};

/** Exports the list of sign-ins without secrets, for a report or for another machine. */
export const exportNames: CommandAction<SharedOptions> = async (_args, options, io) => {
  await printJson(io.stdout, { exported: isoNow(), ...(await contents(options, io)) });
  return EXIT.ok;
};

function contents(options: SharedOptions, io: Io) {
  return withVault(options, io, async ({ vault, issuers }) => ({
    signIns: (await vault.all()).map(described),
    issuers: (await issuers.all()).map(({ source, issuer, address }) => ({ source, issuer, address })),
  }));
}

/** Returns the names in a sign-in record, without secret values. */
function described({ source, url, person, resource, server, client, tokens, scopes, endedBecause }: SignInRecord) {
  const { origin, pathname } = new URL(url);
  return {
    source,
    person,
    issuer: server.issuer,
    state: tokens ? "signed in" : (endedBecause ?? "signed out"),
    until: tokens?.lifetimeMs === undefined ? "" : new Date(tokens.obtainedAt + tokens.lifetimeMs).toISOString(),
    url: `${origin}${pathname}`,
    resource,
    client: client.id,
    registered: client.from,
    scopes,
    renews: tokens?.refresh !== undefined,
  };
}
