import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export interface TokenParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly typ?: string;
  /** Claims that the token omits. */
  readonly without?: readonly string[];
}

const LIFETIME_S = 300;

/** An identity provider with keys and metadata on a local port. A test can replace its responses. */
export class KeyIssuer implements AsyncDisposable {
  readonly url: string;
  /** Paths of the requests so far. */
  readonly seen: string[] = [];
  /** Responses that replace the usual ones, by path. */
  readonly answers = new Map<string, (response: ServerResponse, body: string) => void>();
  readonly #server: Server;
  #keys: SigningKey[] = [];

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response));
  }

  static async start(port = 0): Promise<KeyIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", () => resolve()));
    const issuer = new KeyIssuer(server);
    await issuer.rotate();
    return issuer;
  }

  /** Uses a new key for later signatures. `keepsOld`: the earlier keys stay published. */
  async rotate(keepsOld = false, alg = "ES256"): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${this.#keys.length + 1}-${this.seen.length}`;
    const publicJwk = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
    this.#keys = [{ kid, alg, privateKey, publicJwk }, ...(keepsOld ? this.#keys : [])];
  }

  get publicKey(): JWK {
    return this.#keys[0]!.publicJwk;
  }

  /** Signs an access token for `audience`. */
  sign(audience: unknown, { claims = {}, typ = "at+jwt", without = [] }: TokenParts = {}): Promise<string> {
    const { kid, alg, privateKey } = this.#keys[0]!;
    const now = Math.floor(Date.now() / 1000);
    const all = {
      iss: this.url,
      aud: audience,
      sub: "ann",
      client_id: "app",
      iat: now,
      exp: now + LIFETIME_S,
      ...claims,
    };
    const kept = Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)));
    return new SignJWT(kept).setProtectedHeader({ alg, kid, typ }).sign(privateKey);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", this.url).pathname;
    this.seen.push(path);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const replaced = this.answers.get(path);
    if (replaced) return replaced(response, Buffer.concat(chunks).toString());
    if (path === "/.well-known/oauth-authorization-server")
      return json(response, {
        issuer: this.url,
        jwks_uri: `${this.url}/jwks`,
        introspection_endpoint: `${this.url}/who`,
      });
    if (path === "/jwks") return json(response, { keys: this.#keys.map(({ publicJwk }) => publicJwk) });
    response.writeHead(404).end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
