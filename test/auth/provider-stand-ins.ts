import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWK } from "jose";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";

/** HTTP server on a free port that is closed with its connections. */
abstract class StandIn implements AsyncDisposable {
  readonly #server: Server;
  url = "";

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async listen(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  protected abstract respond(url: URL, body: URLSearchParams, request: IncomingMessage): Promise<unknown>;

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, this.url);
    const answer = await this.respond(url, new URLSearchParams(Buffer.concat(chunks).toString()), request);
    if (answer instanceof URL) response.writeHead(302, { location: answer.href }).end();
    else if (typeof answer === "number") response.writeHead(answer).end("<html>no</html>");
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

function backTo(request: URL, more: Record<string, string>): URL {
  const back = new URL(request.searchParams.get("redirect_uri")!);
  const state = request.searchParams.get("state")!;
  for (const [name, value] of Object.entries({ state, ...more })) back.searchParams.set(name, value);
  return back;
}

/** OpenID provider whose responses a test can falsify. */
export class FalseProvider extends StandIn {
  /** Claims that replace those of a correct ID token; `undefined` removes a claim. */
  claims: Record<string, unknown> = {};
  /** Parameters that replace those of a correct response. */
  response: Record<string, string> = {};
  userInfo: JsonObject | undefined;
  isUnsigned = false;
  /** Key that signs, in place of the published one. */
  otherKey: CryptoKey | undefined;
  #keys: { readonly privateKey: CryptoKey; readonly jwk: JWK } | undefined;
  #nonce = "";

  reset(): void {
    Object.assign(this, { claims: {}, response: {}, userInfo: undefined, isUnsigned: false, otherKey: undefined });
  }

  protected async respond(url: URL): Promise<unknown> {
    const { url: issuer } = this;
    if (url.pathname === "/.well-known/openid-configuration")
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        authorization_response_iss_parameter_supported: true,
        ...(this.userInfo && { userinfo_endpoint: `${issuer}/me` }),
      };
    if (url.pathname === "/authorize") {
      this.#nonce = url.searchParams.get("nonce")!;
      return backTo(url, { code: "a-code", iss: issuer, ...this.response });
    }
    if (url.pathname === "/jwks") return { keys: [(await this.#signing()).jwk] };
    if (url.pathname === "/token") return { access_token: "t", token_type: "Bearer", id_token: await this.#idToken() };
    return url.pathname === "/me" ? this.userInfo : 404;
  }

  async #signing() {
    if (!this.#keys) {
      const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
      this.#keys = { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256", use: "sig" } };
    }
    return this.#keys;
  }

  async #idToken(): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const right = { iss: this.url, aud: "hub", sub: "u1", nonce: this.#nonce, iat: now, exp: now + 60 };
    const claims = { ...right, ...this.claims };
    if (this.isUnsigned) return new UnsecuredJWT(claims).encode();
    const { privateKey } = await this.#signing();
    return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "k1" }).sign(this.otherKey ?? privateKey);
  }
}

/** GitHub Enterprise as its REST API behaves: errors with status 200, JSON on request only, PKCE checked. */
export class GithubStandIn extends StandIn {
  user: JsonObject = { id: 583231, login: "octocat" };
  emails: unknown = [
    { email: "old@corp.example", primary: false, verified: true },
    { email: "octo@corp.example", primary: true, verified: true },
  ];
  #challenge = "";
  #isUsed = true;

  protected async respond(url: URL, body: URLSearchParams, { headers }: IncomingMessage): Promise<unknown> {
    if (url.pathname === "/login/oauth/authorize") {
      this.#challenge = url.searchParams.get("code_challenge")!;
      this.#isUsed = false;
      return backTo(url, { code: "a-github-code" });
    }
    if (url.pathname === "/login/oauth/access_token") return this.#redeem(body, headers.accept);
    if (headers.authorization !== "Bearer gho_token" || headers["user-agent"] === undefined) return 401;
    const answers: Record<string, unknown> = {
      "/api/v3/user": this.user,
      "/api/v3/user/emails": this.emails,
      "/api/v3/user/orgs": [{ login: "acme" }],
      "/api/v3/user/teams": [{ slug: "developers", organization: { login: "acme" } }],
    };
    return answers[url.pathname] ?? 404;
  }

  #redeem(body: URLSearchParams, accept: string | undefined): unknown {
    const digest = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      !this.#isUsed && digest === this.#challenge && body.get("client_secret") === "secret" && accept !== undefined;
    this.#isUsed = true;
    if (!isRight || body.get("code") !== "a-github-code")
      return { error: "bad_verification_code", error_description: "The code passed is incorrect or expired." };
    return { access_token: "gho_token", token_type: "bearer", scope: "read:user,user:email,read:org" };
  }
}
