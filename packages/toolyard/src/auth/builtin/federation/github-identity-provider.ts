import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import type { ProxyEnvironment } from "../../../outbound/proxy.ts";
import { ProviderClient } from "../../issuer/provider-client.ts";
import type { ProviderAccount } from "./provider-account.ts";
import {
  assertIssuer,
  codeOf,
  emailOf,
  ProviderSignInError,
  subjectOf,
  type IdentityProvider,
  type ProviderSignIn,
} from "./identity-provider.ts";
import { challengeOf } from "./oidc-identity-provider.ts";
import type { IdentityProviderOptions } from "./options.ts";

/**
 * Number of organisations and of teams that are read. A user with as many or more is refused, because the list may be
 * truncated.
 */
const PAGE_SIZE = 100;

/**
 * GitHub or GitHub Enterprise, used through an OAuth app. GitHub issues no ID token, so the access token is the only
 * proof of the user's identity.
 */
export class GithubIdentityProvider implements IdentityProvider {
  readonly #options: IdentityProviderOptions;
  readonly #client: ProviderClient;
  readonly #base: string;
  readonly #api: string;

  constructor(options: IdentityProviderOptions, environment: ProxyEnvironment) {
    const { url, timeoutMs } = options;
    this.#options = options;
    this.#base = url.replace(/\/$/, "");
    this.#api = this.#base === "https://github.com" ? "https://api.github.com" : `${this.#base}/api/v3`;
    this.#client = new ProviderClient({ issuer: url, timeoutMs, environment });
  }

  async authorizationUrl({ state, verifier, redirectUri }: ProviderSignIn): Promise<string> {
    const { clientId, scopes } = this.#options;
    const sent = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: scopes.join(" "),
      state,
      code_challenge: challengeOf(verifier),
      code_challenge_method: "S256",
    });
    return `${this.#base}/login/oauth/authorize?${sent}`;
  }

  async account(response: URLSearchParams, signIn: ProviderSignIn): Promise<ProviderAccount> {
    assertIssuer(response, `${this.#base}/login/oauth`, false);
    const token = await this.#redeem(codeOf(response), signIn);
    const [user, emails, groups] = [await this.#user(token), await this.#emails(token), await this.#groups(token)];
    const { id, login } = user;
    const email = emails.find((one) => one["primary"] === true && one["verified"] === true);
    const address = emailOf(email?.["email"]);
    return {
      provider: this.#options.id,
      issuer: this.#options.url,
      subject: subjectOf(Number.isSafeInteger(id) ? String(id) : undefined),
      login: subjectOf(login),
      ...(address !== undefined && { email: address }),
      groups,
    };
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Exchanges a code for a token. GitHub reports errors with status 200. */
  async #redeem(code: string, { verifier, redirectUri }: ProviderSignIn): Promise<string> {
    const { clientId, clientSecret } = this.#options;
    const answer = await this.#client.read(`${this.#base}/login/oauth/access_token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({
        client_id: clientId,
        client_secret: clientSecret,
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }).toString(),
    });
    const token = answer["access_token"];
    if (typeof token === "string" && answer["error"] === undefined) return token;
    throw new ProviderSignInError("GitHub did not accept the code");
  }

  async #user(token: string): Promise<JsonObject> {
    const user = await this.#get("/user", token);
    if (isJsonObject(user)) return user;
    throw new ProviderSignInError("GitHub described no user");
  }

  async #emails(token: string): Promise<readonly JsonObject[]> {
    return this.#options.scopes.includes("user:email") ? this.#list("/user/emails", token) : [];
  }

  /** Returns organisations as `acme` and teams as `acme/developers`. */
  async #groups(token: string): Promise<readonly string[]> {
    if (!this.#options.scopes.includes("read:org")) return [];
    const organisations = await this.#list("/user/orgs", token);
    const teams = await this.#list("/user/teams", token);
    return [
      ...organisations.map(({ login }) => login),
      ...teams.map(
        (team) => isJsonObject(team["organization"]) && teamName(team["organization"]["login"], team["slug"]),
      ),
    ].filter((name): name is string => typeof name === "string");
  }

  async #list(path: string, token: string): Promise<readonly JsonObject[]> {
    const list = await this.#get(`${path}?per_page=${PAGE_SIZE}`, token);
    // A truncated list could omit a group that a role denies.
    if (Array.isArray(list) && list.length < PAGE_SIZE) return list.filter(isJsonObject);
    throw new ProviderSignInError(`GitHub sent no list with less than ${PAGE_SIZE} entries`);
  }

  #get(path: string, token: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.github+json" };
    return this.#client.readJson(this.#api + path, { headers });
  }
}

function teamName(organisation: unknown, slug: unknown): string | undefined {
  return typeof organisation === "string" && typeof slug === "string" ? `${organisation}/${slug}` : undefined;
}
