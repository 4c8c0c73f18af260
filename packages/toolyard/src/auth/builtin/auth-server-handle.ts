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

  load(): Promise<AuthServer> {
    return (this.#loading ??= this.#load());
  }

  async close(): Promise<void> {
    await (await this.#loading?.catch(() => undefined))?.close();
  }

  async #load(): Promise<AuthServer> {
    const { AuthServer: Server } = await import("./auth-server.ts");
    return new Server(this.#parts, this.baseUrl);
  }
}
