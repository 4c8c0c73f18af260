import type { Logger } from "../../core/ports/ports.ts";
import { completeOAuth } from "../../outbound/credentials/oauth.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import type { SignInPlace } from "../../signin/context.ts";
import { personOf, SHARED_PERSON } from "../../signin/records.ts";
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
  /** Whose sign-in it is, where each principal signs in for itself. */
  readonly principal?: string | undefined;
}

/** What a sign-in to a source needs to know of it. */
export function signInPlace({ label, options, environment, folder, logger, principal }: SignedSource): SignInPlace {
  const { url, oauth } = options;
  const { caFiles } = connectionOptions(url, options, environment);
  const way = { environment, caFiles, ...(options.proxy !== undefined && { proxy: options.proxy }) };
  const person = principal === undefined ? SHARED_PERSON : personOf(principal);
  return { label, url, options: completeOAuth(url, oauth), person, folder, logger, ...way };
}
