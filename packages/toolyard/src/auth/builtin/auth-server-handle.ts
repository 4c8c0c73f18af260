import type { AccessPlace } from "../../core/access.ts";
import type { TokenVerifier } from "../access-token-authenticator.ts";
import type { AuthServer, AuthServerParts } from "./auth-server.ts";
import type { AuthServerOptions } from "./options.ts";

/** Authorization server for one address. It is loaded by the first request that needs it. */
export class AuthServerHandle {
  readonly verifier: TokenVerifier = { verify: async (token) => (await this.load()).verifier.verify(token) };
  readonly #parts: AuthServerParts;
  #place: AccessPlace | undefined;
  #loading: Promise<AuthServer> | undefined;

  constructor(parts: AuthServerParts) {
    this.#parts = parts;
  }

  get options(): AuthServerOptions {
    return this.#parts.options;
  }

  /** Address of the hub, which is the issuer. Empty until the endpoints are open. */
  get baseUrl(): string {
    return this.#place?.baseUrl ?? "";
  }

  use(place: AccessPlace): void {
    this.#place = place;
    this.#loading = undefined;
  }

  /** Loads the server. Rejects with a `StoreLostError` if its state is in a store that cannot be reached. */
  load(): Promise<AuthServer> {
    if (this.#loading) return this.#loading;
    const loading = this.#load();
    this.#loading = loading;
    loading.catch(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    return loading;
  }

  /** Reads the users again before their next use, because another hub or a command has changed them. */
  async accountsChanged(): Promise<void> {
    (await this.#loading?.catch(() => undefined))?.users.expire();
  }

  async close(): Promise<void> {
    await (await this.#loading?.catch(() => undefined))?.close();
  }

  async #load(): Promise<AuthServer> {
    const [{ AuthServer: Server }, state] = await Promise.all([import("./auth-server.ts"), this.#parts.openState()]);
    return new Server(this.#parts, state, this.baseUrl);
  }
}
