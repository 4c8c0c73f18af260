import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import type { TokenVerifier } from "../access-token-authenticator.ts";
import type { Audience } from "../audience.ts";
import type { IssuerOptions } from "../options.ts";
import { Introspection } from "./introspection.ts";
import { IssuerMetadata } from "./issuer-metadata.ts";
import { JwtVerifier } from "./jwt-verifier.ts";
import { KeySet } from "./key-set.ts";
import { ProviderClient } from "./provider-client.ts";

export interface IssuerVerifierParts {
  readonly issuer: IssuerOptions;
  readonly audience: Audience;
  readonly clockSkewMs: number;
  readonly environment: ProxyEnvironment;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Verifier that holds connections to the identity provider. */
export interface IssuerVerifier extends TokenVerifier {
  close(): Promise<void>;
}

/** Creates the verifier for an identity provider's access tokens, and starts to read the provider's keys. */
export function createIssuerVerifier({ environment, ...rules }: IssuerVerifierParts): IssuerVerifier {
  const { issuer, now } = rules;
  const client = new ProviderClient({ issuer: issuer.url, timeoutMs: issuer.timeoutMs, environment });
  const metadata = new IssuerMetadata(client, issuer.url, now);
  const verifier =
    issuer.verify === "introspection"
      ? new Introspection(
          {
            ...rules,
            endpoint: async () => issuer.introspectionEndpoint ?? metadata.address("introspection_endpoint"),
          },
          client,
        )
      : createJwtVerifier(rules, async () => client.read(issuer.jwksUri ?? (await metadata.address("jwks_uri"))));
  return { verify: (token) => verifier.verify(token), close: () => client.close() };
}

function createJwtVerifier(
  rules: Omit<IssuerVerifierParts, "environment">,
  readKeys: ConstructorParameters<typeof KeySet>[0],
): JwtVerifier {
  const keys = new KeySet(readKeys, rules.now);
  void keys.prefetch();
  return new JwtVerifier(rules, keys.find);
}
