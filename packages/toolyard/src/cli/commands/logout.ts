import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { createContext, keyOf } from "../../signin/context.ts";
import { revoke } from "../../signin/grants.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { EXIT } from "../failure.ts";
import { print, printJson } from "../output/io.ts";
import { assertOwn, namedSource, signInSources } from "../sign-ins.ts";

interface Options extends SharedOptions {
  readonly as?: string;
}

export const run: CommandAction<Options> = async ([name = ""], options, io) => {
  const source = namedSource(name, await signInSources(options, io));
  assertOwn(source, options);
  const { id, place } = source;
  const context = createContext(place);
  const { vault, network } = context;
  try {
    const record = await vault.find(keyOf(context));
    if (!record?.tokens) throw new FailError(fail("needs_authorisation", `No user is signed in to \`${id}\`.`));
    const { tokens, wanted: _, endedBecause: __, ...rest } = record;
    // The vault is changed first, so that no hub uses the tokens, even if the server refuses the revocation.
    await vault.update(keyOf(context), (now) => now && { ...rest, scopes: [] });
    const { privateKey } = place.options;
    const { server, client } = record;
    const redeeming = { server, client, network, ...(privateKey !== undefined && { privateKey }) };
    const revoked = await revoke(tokens.refresh ?? tokens.access, redeeming);
    if (options.json) await printJson(io.stdout, { signedOut: id, revoked });
    else await print(io.stdout, `Signed out of ${id}${revoked ? "; its token is taken back" : ""}.`);
    return EXIT.ok;
  } finally {
    await network.close();
  }
};
