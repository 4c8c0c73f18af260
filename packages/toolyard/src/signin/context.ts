import type { Logger } from "../core/ports/ports.ts";
import type { OAuthOptions } from "../outbound/credentials/oauth.ts";
import type { ProxyEnvironment } from "../outbound/proxy.ts";
import type { DiscoveryTarget } from "./discovery.ts";
import { IssuerBook } from "./issuer-book.ts";
import { SignInNetwork } from "./network.ts";
import type { RecordKey } from "./records.ts";
import { startsOf, type SignInStarts } from "./sign-in-starts.ts";
import { Vault } from "./vault.ts";
import type { IssuerBindings, SharedSignIns, SignInVault } from "./vault-port.ts";

/** The dependencies of each step of a sign-in. */
export interface LoginContext {
  /** Id of the source. */
  readonly label: string;
  readonly url: URL;
  readonly options: OAuthOptions;
  readonly person: string;
  readonly vault: SignInVault;
  /** Records the issuer of each source's configured credentials. */
  readonly issuers: IssuerBindings;
  readonly network: SignInNetwork;
  readonly starts?: SignInStarts | undefined;
}

/** A source that users may sign in to, and the environment of the sign-in. */
export interface SignInPlace {
  /** Id of the source. */
  readonly label: string;
  readonly url: URL;
  readonly options: OAuthOptions;
  readonly person: string;
  /** Folder of the vault. */
  readonly folder: string;
  /** Vault of all hubs of a store, which replaces the one in the folder. @default none */
  readonly shared?: SharedSignIns | undefined;
  /** Environment of the process: proxies, certificates, the vault's key. */
  readonly environment: ProxyEnvironment;
  readonly proxy?: string;
  readonly caFiles: readonly string[];
  readonly logger: Logger;
  /** True if a user is at a terminal. @default false */
  readonly isAttended?: boolean;
  /** Object by which sign-ins share limits: all principals of one source have the same object. @default no limits */
  readonly scope?: object;
}

export function createContext(place: SignInPlace): LoginContext {
  const { label, url, options, person, environment, proxy, caFiles } = place;
  const { issuer, identityProvider } = options;
  const trusted = [issuer, identityProvider?.tokenUrl].filter((one) => one !== undefined);
  return {
    label,
    url,
    options,
    person,
    vault: openVault(place),
    issuers: openIssuers(place),
    starts: startsOf(place),
    network: new SignInNetwork({ label, url, trusted, environment, caFiles, ...(proxy !== undefined && { proxy }) }),
  };
}

export function openVault({
  folder,
  environment,
  logger,
  shared,
  isAttended = false,
}: Pick<SignInPlace, "folder" | "environment" | "logger" | "shared" | "isAttended">): SignInVault {
  if (shared) return shared.vault;
  return new Vault({ folder, variables: environment, isAttended }, (path) =>
    logger.warning("The vault could not be read. It was moved aside, and users must sign in again.", { path }),
  );
}

export function openIssuers({ folder, shared }: Pick<SignInPlace, "folder" | "shared">): IssuerBindings {
  return shared?.issuers ?? new IssuerBook(folder);
}

/** Returns the key of the record of this source and owner. */
export function keyOf({ label, url, person }: Pick<LoginContext, "label" | "url" | "person">): RecordKey {
  return { source: label, url: url.href, person };
}

export function targetOf({ label, url, options }: Pick<LoginContext, "label" | "url" | "options">): DiscoveryTarget {
  const { issuer, resource } = options;
  return {
    label,
    url,
    ...(issuer !== undefined && { issuer }),
    ...(resource !== undefined && { resource }),
    asksIssuerFirst: hasConfiguredCredentials(options),
  };
}

/** Returns whether the configuration holds credentials that are sent to an issuer. */
export function hasConfiguredCredentials({ clientId, clientSecret, privateKey, assertion }: OAuthOptions): boolean {
  return [clientId, clientSecret, privateKey, assertion].some((one) => one !== undefined && one !== "");
}
