import { dataFolder } from "../config/locate.ts";
import { SILENT_LOGGER } from "../core/ports.ts";
import { nearest } from "../core/suggest.ts";
import { remoteServers } from "../providers/http/kind.ts";
import type { RemoteServerOptions } from "../providers/http/options.ts";
import { mayBeSignedIn, signInPlace } from "../providers/http/sign-in-place.ts";
import { openVault, type SignInPlace } from "../signin/context.ts";
import type { Vault } from "../signin/vault.ts";
import { vaultFolder } from "../signin/vault-place.ts";
import type { SharedOptions } from "./command-row.ts";
import { UsageError } from "./failure.ts";
import { print, type Io } from "./io.ts";
import { loadSettings } from "./session.ts";

/** A server that a person may sign in to. */
export interface SignInSource {
  readonly id: string;
  readonly options: RemoteServerOptions;
  readonly place: SignInPlace;
}

/** The servers of the configuration that have no credentials of their own there. */
export async function signInSources(options: SharedOptions, io: Io): Promise<readonly SignInSource[]> {
  const { tree } = await loadSettings(options, io);
  const folder = vaultFolder(dataFolder(io.env));
  return remoteServers(tree)
    .filter((one) => mayBeSignedIn(one.options))
    .map(({ id, options: server }) => {
      const place = signInPlace({ label: id, options: server, environment: io.env, folder, logger: SILENT_LOGGER });
      return { id, options: server, place };
    });
}

/** The one that was named. Throws a `UsageError` that says which there are. */
export function namedSource(name: string, sources: readonly SignInSource[]): SignInSource {
  const found = sources.find(({ id }) => id === name);
  if (found) return found;
  const ids = sources.map(({ id }) => id);
  if (ids.length === 0)
    throw new UsageError(
      "The configuration names no server on HTTP that could be signed in to. Add one with `toolyard add`.",
    );
  const [near] = nearest(name, ids);
  const hint = near === undefined ? `There are: ${ids.join(", ")}.` : `Did you mean ${near}?`;
  throw new UsageError(`No server on HTTP without credentials of its own is called ${JSON.stringify(name)}. ${hint}`);
}

/** The vault of this home. What has to be said of it goes to standard error. */
export function vaultOf(io: Io): Vault {
  const logger = {
    ...SILENT_LOGGER,
    warning: (message: string, facts?: object) => void print(io.stderr, `${message} ${JSON.stringify(facts ?? {})}`),
  };
  return openVault({ folder: vaultFolder(dataFolder(io.env)), environment: io.env, logger });
}
