import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../../core/json/json.ts";
import type { ProxyEnvironment } from "../../../outbound/proxy.ts";
import type { RecordStore } from "../record-store.ts";
import type { User, Users } from "../users.ts";
import { admitAccount } from "./account.ts";
import { GithubIdentityProvider } from "./github-identity-provider.ts";
import { ProviderSignInError, type IdentityProvider, type ProviderSignIn } from "./identity-provider.ts";
import { OidcIdentityProvider } from "./oidc-identity-provider.ts";
import type { IdentityProviderOptions } from "./options.ts";

export interface FederationParts {
  readonly providers: readonly IdentityProviderOptions[];
  readonly environment: ProxyEnvironment;
  readonly users: Users;
  /** Sign-ins that wait for a response of their provider, by `state`. */
  readonly waiting: RecordStore;
  /** Address of the hub. */
  readonly baseUrl: string;
  readonly now: () => number;
}

/**
 * Path below the base path to which identity providers return browsers. Each provider has a separate path below it,
 * which protects against mix-up attacks (RFC 9700 section 4.4).
 */
export const FEDERATION_PATH = "/federation";

const SIGN_IN_MS = 10 * 60_000;
/** Maximum number of responses that are checked concurrently. */
const MAX_AT_ONCE = 16;

/** Signs in users at identity providers. */
export class Federation {
  readonly #parts: FederationParts;
  readonly #open = new Map<string, IdentityProvider>();
  #running = 0;

  constructor(parts: FederationParts) {
    this.#parts = parts;
  }

  /** Providers at which a browser can sign in. */
  get providers(): readonly IdentityProviderOptions[] {
    return this.#parts.providers.filter(({ clientId }) => clientId !== "");
  }

  find(id: string): IdentityProviderOptions | undefined {
    return this.providers.find((provider) => provider.id === id);
  }

  /** Starts a sign-in for the pending request `uid`. Resolves with the address to which the browser is sent. */
  async start(id: string, uid: string): Promise<string> {
    const { waiting, now } = this.#parts;
    const [state, nonce, verifier] = [randomText(), randomText(), randomText()];
    const url = await this.#provider(id).authorizationUrl({ state, nonce, verifier, redirectUri: this.#redirect(id) });
    await waiting.write(state, { provider: id, uid, nonce, verifier }, now() + SIGN_IN_MS);
    return url;
  }

  /** Resolves with the pending request to which a response belongs. Resolves with `undefined` if there is none. */
  async uidOf(id: string, response: URLSearchParams): Promise<string | undefined> {
    const found = await this.#parts.waiting.find(response.get("state") ?? "");
    return found?.["provider"] === id ? String(found["uid"]) : undefined;
  }

  /**
   * Resolves with the user of a response. The `state` works once, and only in the browser of the request `uid`. Rejects
   * with a `ProviderSignInError` if the response must not be trusted or the account is not admitted.
   */
  async finish(id: string, uid: string, response: URLSearchParams): Promise<User> {
    const { waiting } = this.#parts;
    const state = response.get("state") ?? "";
    const found = await waiting.find(state);
    if (!found || found["provider"] !== id || found["uid"] !== uid || response.getAll("state").length !== 1)
      throw new ProviderSignInError("The response belongs to another sign-in");
    // Only one of concurrent requests with this state continues.
    if (!(await waiting.take(state))) throw new ProviderSignInError("The response was used before");
    if (this.#running >= MAX_AT_ONCE) throw new ProviderSignInError("Too many sign-ins at the same time");
    this.#running += 1;
    try {
      return await this.#admit(id, response, { ...verifierOf(found), state, redirectUri: this.#redirect(id) });
    } finally {
      this.#running -= 1;
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), (provider) => provider.close()));
  }

  async #admit(id: string, response: URLSearchParams, signIn: ProviderSignIn): Promise<User> {
    const account = await this.#provider(id).account(response, signIn);
    return admitAccount(account, this.find(id)!, this.#parts.users);
  }

  #provider(id: string): IdentityProvider {
    const options = this.find(id);
    if (!options) throw new ProviderSignInError("The provider is not configured");
    const { environment } = this.#parts;
    const provider =
      this.#open.get(id) ??
      (options.kind === "github"
        ? new GithubIdentityProvider(options, environment)
        : new OidcIdentityProvider(options, environment));
    this.#open.set(id, provider);
    return provider;
  }

  #redirect(id: string): string {
    return `${this.#parts.baseUrl.replace(/\/$/, "")}${FEDERATION_PATH}/${id}`;
  }
}

function verifierOf({ nonce, verifier }: JsonObject): Pick<ProviderSignIn, "nonce" | "verifier"> {
  return { nonce: String(nonce), verifier: String(verifier) };
}

function randomText(): string {
  return randomBytes(32).toString("base64url");
}
