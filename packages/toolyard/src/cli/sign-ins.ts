import { dataFolder } from "../core/data-folder.ts";
import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { resolveHttp } from "../http/options.ts";
import { SILENT_LOGGER } from "../core/ports/ports.ts";
import { nearest } from "../core/text/suggest.ts";
import { remoteServers } from "../providers/http/kind.ts";
import type { RemoteServerOptions } from "../providers/http/options.ts";
import { mayBeSignedIn, signInPlace } from "../providers/http/sign-in-place.ts";
import { KEY_VARIABLE, keyIn } from "../core/shared-key.ts";
import type { HubConfig } from "../hub/schema.ts";
import { openIssuers, openVault, type SignInPlace } from "../signin/context.ts";
import type { IssuerBindings, SharedSignIns, SignInVault } from "../signin/vault-port.ts";
import { vaultFolder } from "../signin/vault-place.ts";
import type { SharedOptions } from "./rows/command-row.ts";
import { UsageError } from "./failure.ts";
import { print, type Io } from "./output/io.ts";
import { withStore } from "./hub-access/command-store.ts";
import { loadSettings, readSettings } from "./hub-access/settings.ts";
import { assertAccepted } from "./input/consent.ts";

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
 * Runs `work` with the vault of the hubs that share a store, or with `undefined` if the hub has a vault in its data
 * folder.
 */
async function withSharedVault<T>(
  tree: HubConfig,
  { env }: Io,
  work: (shared: SharedSignIns | undefined) => Promise<T>,
): Promise<T> {
  const key = tree.store === undefined ? undefined : keyIn(env);
  if (!key) return work(undefined);
  const { sharedSignIns } = await import("../signin/store-vault.ts");
  return withStore(tree, env, async (state) => work(sharedSignIns(await state.openVault!(key))));
}

/**
 * Runs `work` with the remote servers of the configuration that have no configured credentials, so that users may sign
 * in to them.
 */
export async function withSignInSources<T>(
  options: PrincipalOptions,
  io: Io,
  work: (sources: readonly SignInSource[]) => Promise<T>,
): Promise<T> {
  const { tree } = await loadSettings(options, io);
  return withSharedVault(tree, io, (shared) => work(signInSources(tree, { options, io, shared })));
}

/** Returns warnings about hubs that share a store and have no key. */
export function vaultFindings(tree: HubConfig, { env }: Pick<Io, "env">): readonly string[] {
  if (tree.store === undefined || keyIn(env)) return [];
  const reader =
    `A program that can read the store can send requests to the hubs as their administrator, because the variable ` +
    `${KEY_VARIABLE} is not set. Set it to the same value for all hubs, such as that of \`openssl rand -base64 32\`.`;
  if (!remoteServers(tree).some((one) => mayBeSignedIn(one.options))) return [reader];
  return [
    reader,
    `Each hub of the store has its own sign-ins to servers, because the variable ${KEY_VARIABLE} is not set. Set it ` +
      "to the same value for all hubs, such as that of `openssl rand -base64 32`.",
  ];
}

interface SourcesPlace {
  readonly options: PrincipalOptions;
  readonly io: Io;
  readonly shared: SharedSignIns | undefined;
}

function signInSources(tree: HubConfig, { options, io, shared }: SourcesPlace): readonly SignInSource[] {
  const folder = vaultFolder(dataFolder(io.env));
  const { publicUrl } = resolveHttp({ ...tree.server, insecure: true });
  return remoteServers(tree)
    .filter((one) => mayBeSignedIn(one.options))
    .map(({ id, options: server }) => {
      const principal = server.credentials === "per-caller" ? (options.as ?? LOCAL_PRINCIPAL.id) : undefined;
      const where = { environment: io.env, folder, shared, logger: SILENT_LOGGER };
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

/** Sign-ins and issuers that a vault holds. */
export interface VaultAccess {
  readonly vault: SignInVault;
  readonly issuers: IssuerBindings;
}

/** Runs `work` with the vault of the configuration. Warnings go to standard error. */
export async function withVault<T>(
  options: SharedOptions,
  io: Io,
  work: (content: VaultAccess) => Promise<T>,
): Promise<T> {
  const logger = {
    ...SILENT_LOGGER,
    warning: (message: string, facts?: object) => void print(io.stderr, `${message} ${JSON.stringify(facts ?? {})}`),
  };
  const folder = vaultFolder(dataFolder(io.env));
  const { tree } = await readSettings(options, io);
  // A configuration file of another user must not decide where sign-ins are sent.
  if (tree.store !== undefined) await assertAccepted(options, io);
  return withSharedVault(tree, io, async (shared) =>
    work({
      vault: openVault({ folder, environment: io.env, logger, shared }),
      issuers: openIssuers({ folder, shared }),
    }),
  );
}
