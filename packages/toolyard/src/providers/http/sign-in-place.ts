import type { Logger } from "../../core/ports/ports.ts";
import { completeOAuth } from "../../outbound/credentials/oauth.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import type { SignInPlace } from "../../signin/context.ts";
import { personOf, SHARED_PERSON } from "../../signin/records.ts";
import type { SharedSignIns } from "../../signin/vault-port.ts";
import { connectionOptions } from "./connection-options.ts";
import type { RemoteServerOptions } from "./options.ts";

/** Returns whether users may sign in to a server. Configured credentials exclude that. */
export function mayBeSignedIn({ headers, clientCredentials, upstream }: RemoteServerOptions): boolean {
  return clientCredentials === undefined && !("authorization" in headers) && upstream.enabled;
}

export interface SignedSource {
  /** Id of the source. */
  readonly label: string;
  readonly options: RemoteServerOptions;
  readonly environment: ProxyEnvironment;
  /** Folder of the vault. */
  readonly folder: string;
  /** Vault of all hubs of a store. @default none */
  readonly shared?: SharedSignIns | undefined;
  readonly logger: Logger;
  /** The principal, if sign-ins are personal. */
  readonly principal?: string | undefined;
}

/** Returns the data that the sign-in of a source needs. */
export function signInPlace({ label, options, principal, ...given }: SignedSource): SignInPlace {
  const { environment, folder, logger, shared } = given;
  const { url, oauth } = options;
  const { caFiles } = connectionOptions(url, options, environment);
  const way = { environment, caFiles, ...(options.proxy !== undefined && { proxy: options.proxy }) };
  const person = principal === undefined ? SHARED_PERSON : personOf(principal);
  return { label, url, options: completeOAuth(url, oauth), person, folder, shared, logger, ...way };
}
