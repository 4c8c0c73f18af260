import { dataFolder } from "../core/data-folder.ts";
import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { resolveHttp } from "../http/options.ts";
import { SILENT_LOGGER } from "../core/ports/ports.ts";
import { nearest } from "../core/text/suggest.ts";
import { remoteServers } from "../providers/http/kind.ts";
import type { RemoteServerOptions } from "../providers/http/options.ts";
import { mayBeSignedIn, signInPlace } from "../providers/http/sign-in-place.ts";
import { openVault, type SignInPlace } from "../signin/context.ts";
import { IssuerBook } from "../signin/issuer-book.ts";
import type { Vault } from "../signin/vault.ts";
import { vaultFolder } from "../signin/vault-place.ts";
import type { SharedOptions } from "./rows/command-row.ts";
import { UsageError } from "./failure.ts";
import { print, type Io } from "./output/io.ts";
import { loadSettings } from "./hub-access/settings.ts";

/** A server that requires a sign-in. */
export interface SignInSource {
  readonly id: string;
  readonly options: RemoteServerOptions;
  readonly place: SignInPlace;
  /** URL of the hub of this configuration for browsers on other machines. */
  readonly publicUrl?: string | undefined;
}

interface PrincipalOptions extends SharedOptions {
  /** Name of the token of the caller who signs in, if callers sign in separately. */
  readonly as?: string;
}

/**
 * Returns the remote servers of the configuration that have no configured credentials, so that users may sign in to
 * them.
 */
export async function signInSources(options: PrincipalOptions, io: Io): Promise<readonly SignInSource[]> {
  const { tree } = await loadSettings(options, io);
  const folder = vaultFolder(dataFolder(io.env));
  const { publicUrl } = resolveHttp({ ...tree.server, insecure: true });
  return remoteServers(tree)
    .filter((one) => mayBeSignedIn(one.options))
    .map(({ id, options: server }) => {
      const principal = server.credentials === "per-caller" ? (options.as ?? LOCAL_PRINCIPAL.id) : undefined;
      const where = { environment: io.env, folder, logger: SILENT_LOGGER };
      return {
        id,
        options: server,
        place: signInPlace({ label: id, options: server, principal, ...where }),
        publicUrl,
      };
    });
}

/** Throws a `UsageError` if `--as` names a caller but all callers share one sign-in. */
export function assertOwn({ id, options: { credentials } }: SignInSource, { as }: PrincipalOptions): void {
  if (as === undefined || credentials === "per-caller") return;
  throw new UsageError(
    `All callers share the sign-in to ${id}, so --as ${JSON.stringify(as)} has no meaning there. ` +
      'Set `credentials = "per-caller"` for it if each caller is to have its own.',
  );
}

/** Returns the named source. Throws a `UsageError` that lists the known ones. */
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

/** Opens the vault in the data folder. Warnings go to standard error. */
export function vaultOf(io: Io): Vault {
  const logger = {
    ...SILENT_LOGGER,
    warning: (message: string, facts?: object) => void print(io.stderr, `${message} ${JSON.stringify(facts ?? {})}`),
  };
  return openVault({ folder: vaultFolder(dataFolder(io.env)), environment: io.env, logger });
}

/** Opens the record of the issuers of configured credentials. */
export function issuerBookOf(io: Io): IssuerBook {
  return new IssuerBook(vaultFolder(dataFolder(io.env)));
}
