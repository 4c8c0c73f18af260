import type { Logger } from "../core/ports.ts";
import type { OAuthOptions } from "../outbound/credentials/oauth.ts";
import type { ProxyEnvironment } from "../outbound/proxy.ts";
import type { LoginContext } from "./login.ts";
import { SignInNetwork } from "./network.ts";
import { Vault } from "./vault.ts";

/** A source that may be signed in to, and whence. */
export interface SignInPlace {
  /** Id of the source. */
  readonly label: string;
  readonly url: URL;
  readonly options: OAuthOptions;
  readonly person: string;
  /** Of the vault. */
  readonly folder: string;
  /** Of the process: proxies, certificates, the vault's key. */
  readonly environment: ProxyEnvironment;
  readonly proxy?: string;
  readonly caFiles: readonly string[];
  readonly logger: Logger;
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
    network: new SignInNetwork({ label, url, trusted, environment, caFiles, ...(proxy !== undefined && { proxy }) }),
  };
}

export function openVault({
  folder,
  environment,
  logger,
}: Pick<SignInPlace, "folder" | "environment" | "logger">): Vault {
  return new Vault({ folder, variables: environment }, (path) =>
    logger.warning("The vault could not be read. It is kept aside, and sign-ins are needed anew.", { path }),
  );
}
