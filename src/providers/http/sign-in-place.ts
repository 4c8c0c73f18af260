import type { Logger } from "../../core/ports.ts";
import { completeOAuth } from "../../outbound/credentials/oauth.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import type { SignInPlace } from "../../signin/context.ts";
import { SHARED_PERSON } from "../../signin/records.ts";
import { connectionOptions } from "./connection-options.ts";
import type { RemoteServerOptions } from "./options.ts";

/** Credentials in the configuration are what a server gets, and nothing else. */
export function mayBeSignedIn({ headers, clientCredentials, upstream }: RemoteServerOptions): boolean {
  return clientCredentials === undefined && !("authorization" in headers) && upstream.enabled;
}

export interface SignedSource {
  /** Id of the source. */
  readonly label: string;
  readonly options: RemoteServerOptions;
  readonly environment: ProxyEnvironment;
  /** Of the vault. */
  readonly folder: string;
  readonly logger: Logger;
}

/** What a sign-in to a source needs to know of it. */
export function signInPlace({ label, options, environment, folder, logger }: SignedSource): SignInPlace {
  const { url, oauth } = options;
  const { caFiles } = connectionOptions(url, options, environment);
  const way = { environment, caFiles, ...(options.proxy !== undefined && { proxy: options.proxy }) };
  return { label, url, options: completeOAuth(url, oauth), person: SHARED_PERSON, folder, logger, ...way };
}
