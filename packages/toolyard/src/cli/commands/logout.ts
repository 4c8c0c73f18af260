import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { signOut } from "../../signin/sign-out.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { EXIT } from "../failure.ts";
import { print, printJson } from "../output/io.ts";
import { assertOwn, namedSource, withSignInSources } from "../sign-ins.ts";

interface Options extends SharedOptions {
  readonly as?: string;
}

export const run: CommandAction<Options> = async ([name = ""], options, io) => {
  const { id, done } = await withSignInSources(options, io, async (sources) => {
    const source = namedSource(name, sources);
    assertOwn(source, options);
    return { id: source.id, done: await signOut(source.place) };
  });
  if (!done) throw new FailError(fail("needs_authorisation", `No user is signed in to \`${id}\`.`));
  const { isRevoked: revoked } = done;
  if (options.json) await printJson(io.stdout, { signedOut: id, revoked });
  else await print(io.stdout, `Signed out of ${id}${revoked ? "; its token is taken back" : ""}.`);
  return EXIT.ok;
};
