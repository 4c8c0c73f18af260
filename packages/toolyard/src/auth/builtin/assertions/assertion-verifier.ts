import { decodeJwt, jwtVerify } from "jose";
import type { JsonObject } from "../../../core/json/json.ts";
import type { ProxyEnvironment } from "../../../outbound/proxy.ts";
import { IssuerMetadata } from "../../issuer/issuer-metadata.ts";
import { KeySet } from "../../issuer/key-set.ts";
import { ProviderClient } from "../../issuer/provider-client.ts";
import { JWT_ALGORITHMS } from "../../options.ts";
import { ProviderUnavailable, TokenError } from "../../token-error.ts";
import type { IdentityProviderOptions } from "../federation/options.ts";

export interface AssertionRules {
  readonly providers: readonly IdentityProviderOptions[];
  readonly environment: ProxyEnvironment;
  /** Issuer identifier of the hub, which an assertion names as its only audience. */
  readonly issuer: string;
  /** Returns true if `resource` is this hub or one of its endpoints. */
  readonly isResource: (resource: string) => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** An identity assertion whose signature and claims were verified. */
export interface VerifiedAssertion {
  readonly provider: IdentityProviderOptions;
  readonly claims: JsonObject;
  readonly resource: string;
  readonly jti: string;
  /** End of validity with the tolerated clock difference, in milliseconds since 1970. */
  readonly expiresAt: number;
}

interface ProviderKeys {
  readonly keys: KeySet;
  readonly client: ProviderClient;
}

export const ASSERTION_TYPE = "oauth-id-jag+jwt";
const MAX_CHARS = 16_384;
const MAX_JTI_CHARS = 256;
const CLOCK_SKEW_S = 30;
/** Maximum lifetime of an assertion. It limits the time for which the hub stores the ids of used assertions. */
const MAX_LIFETIME_S = 60 * 60;

/**
 * Verifies identity assertions (ID-JAG, `draft-ietf-oauth-identity-assertion-authz-grant`): signature of a trusted
 * provider, `typ`, audience, client, resource and lifetime. Every check is mandatory.
 */
export class AssertionVerifier {
  readonly #rules: AssertionRules;
  readonly #open = new Map<string, ProviderKeys>();

  constructor(rules: AssertionRules) {
    this.#rules = rules;
  }

  /**
   * Rejects with a `TokenError` if the assertion is not valid for the client, and with `ProviderUnavailable` if the
   * provider's keys cannot be read.
   */
  async verify(assertion: string, clientId: string): Promise<VerifiedAssertion> {
    if (assertion.length > MAX_CHARS) throw new TokenError("The assertion is too long");
    const provider = this.#providerOf(assertion, clientId);
    const claims = await this.#verifySignature(assertion, provider);
    this.#assertRecipient(claims, clientId);
    return { provider, claims, ...lifetimeOf(claims), resource: this.#resourceOf(claims), jti: jtiOf(claims) };
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), ({ client }) => client.close()));
  }

  /** Returns the provider that the assertion names, if the client may send assertions of this provider. */
  #providerOf(assertion: string, clientId: string): IdentityProviderOptions {
    const issuer = issuerOf(assertion);
    // Several entries may have the same issuer, such as one for browsers and one for assertions.
    const provider = this.#rules.providers.find(
      ({ kind, url, assertionClients }) => kind === "oidc" && url === issuer && assertionClients.includes(clientId),
    );
    if (!provider) throw new TokenError("The issuer of the assertion is not trusted for this client");
    return provider;
  }

  async #verifySignature(assertion: string, provider: IdentityProviderOptions): Promise<JsonObject> {
    const { keys } = this.#keysOf(provider);
    try {
      const { payload } = await jwtVerify(assertion, keys.find, {
        algorithms: [...JWT_ALGORITHMS],
        typ: ASSERTION_TYPE,
        issuer: provider.url,
        requiredClaims: ["sub", "client_id", "jti", "iat", "exp"],
        clockTolerance: CLOCK_SKEW_S,
        currentDate: new Date(this.#rules.now()),
      });
      return payload as JsonObject;
    } catch (error) {
      if (error instanceof ProviderUnavailable) throw error;
      // The message is replaced, because messages of the library `jose` may repeat parts of the assertion.
      throw new TokenError("The signature, the type or the validity of the assertion is not accepted");
    }
  }

  #assertRecipient({ aud, client_id: client, iat }: JsonObject, clientId: string): void {
    const audiences = Array.isArray(aud) ? aud : [aud];
    // If an assertion had a second audience, that audience could use the assertion at this hub.
    if (audiences.length !== 1 || audiences[0] !== this.#rules.issuer)
      throw new TokenError("The assertion is for another authorization server");
    if (client !== clientId) throw new TokenError("The assertion is for another client");
    if (Number(iat) * 1000 > this.#rules.now() + CLOCK_SKEW_S * 1000)
      throw new TokenError("The assertion was issued in the future");
  }

  #resourceOf({ resource }: JsonObject): string {
    if (typeof resource === "string" && this.#rules.isResource(resource)) return resource;
    throw new TokenError("The assertion is for another resource");
  }

  #keysOf({ url, timeoutMs }: IdentityProviderOptions): ProviderKeys {
    const { environment, now } = this.#rules;
    const known = this.#open.get(url);
    if (known) return known;
    const client = new ProviderClient({ issuer: url, timeoutMs, environment });
    const metadata = new IssuerMetadata(client, url, now);
    const opened = { client, keys: new KeySet(async () => client.read(await metadata.address("jwks_uri")), now) };
    this.#open.set(url, opened);
    return opened;
  }
}

function issuerOf(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).iss;
  } catch {
    throw new TokenError("The assertion is not a JWT");
  }
}

function lifetimeOf({ iat, exp }: JsonObject): { readonly expiresAt: number } {
  if (Number(exp) - Number(iat) > MAX_LIFETIME_S) throw new TokenError("The assertion is valid for more than an hour");
  return { expiresAt: (Number(exp) + CLOCK_SKEW_S) * 1000 };
}

function jtiOf({ jti }: JsonObject): string {
  if (typeof jti === "string" && jti !== "" && jti.length <= MAX_JTI_CHARS) return jti;
  throw new TokenError("The assertion has no usable `jti` claim");
}
