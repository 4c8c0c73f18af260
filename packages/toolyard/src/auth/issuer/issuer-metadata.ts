import type { JsonObject } from "../../core/json/json.ts";
import { ProviderUnavailable } from "../token-error.ts";
import { FreshValue } from "./fresh-value.ts";
import type { ProviderClient } from "./provider-client.ts";

const FRESH_MS = 60 * 60_000;

/** Metadata of the identity provider (RFC 8414, OpenID Connect Discovery). It is requested by the first use. */
export class IssuerMetadata {
  readonly #client: ProviderClient;
  readonly #issuer: string;
  readonly #value: FreshValue<JsonObject>;

  constructor(client: ProviderClient, issuer: string, now: () => number) {
    this.#client = client;
    this.#issuer = issuer;
    this.#value = new FreshValue({ read: () => this.#discover(), freshMs: FRESH_MS, now });
  }

  /**
   * Resolves with an address from the metadata. Rejects with `ProviderUnavailable` if the metadata does not contain it.
   */
  async address(member: string): Promise<string> {
    const value = await this.find(member);
    if (typeof value === "string") return value;
    throw new ProviderUnavailable(`The metadata of the identity provider has no \`${member}\`.`);
  }

  /** Resolves with a member of the metadata, or with `undefined` if the metadata does not contain it. */
  async find(member: string): Promise<unknown> {
    return (await this.#value.get())[member];
  }

  async #discover(): Promise<JsonObject> {
    let problem: unknown;
    for (const address of metadataAddresses(this.#issuer)) {
      try {
        const found = await this.#client.read(address);
        // RFC 8414 section 3.3: a document of another issuer must not be used.
        if (found["issuer"] === this.#issuer) return found;
        problem = new ProviderUnavailable("The metadata of the identity provider is that of another issuer.");
      } catch (error) {
        problem ??= error;
      }
    }
    throw problem;
  }
}

/** Returns the addresses of the metadata documents, in the order of the MCP specification. */
export function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const forms = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`];
  return [...forms, ...(path === "" ? [] : [`${path}/.well-known/openid-configuration`])].map((one) => origin + one);
}
