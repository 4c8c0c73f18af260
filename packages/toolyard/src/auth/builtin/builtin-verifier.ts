import type { Identity } from "../../core/calls/identity.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { TokenVerifier } from "../access-token-authenticator.ts";
import type { Audience } from "../audience.ts";
import { TokenError, UnknownToken } from "../token-error.ts";
import type { ClientRegistry } from "./client-registry.ts";
import { CONSOLE_CLIENT } from "./options.ts";
import { groupsOfUser } from "./federation/account.ts";
import type { IdentityProviderOptions } from "./federation/options.ts";
import type { RecordStore } from "./record-store.ts";
import type { Users } from "./users.ts";

export interface BuiltinVerifierParts {
  readonly accessTokens: RecordStore;
  readonly machineTokens: RecordStore;
  readonly users: Pick<Users, "findBySub">;
  readonly clients: Pick<ClientRegistry, "has">;
  readonly machines: ReadonlySet<string>;
  readonly audience: Pick<Audience, "matches">;
  readonly issuer: string;
  readonly providers: readonly IdentityProviderOptions[];
}

/** Verifies access tokens of the hub's own server by looking them up, so that a revocation has immediate effect. */
export class BuiltinVerifier implements TokenVerifier {
  readonly #parts: BuiltinVerifierParts;

  constructor(parts: BuiltinVerifierParts) {
    this.#parts = parts;
  }

  async verify(token: string): Promise<Identity> {
    const { accessTokens, machineTokens, audience } = this.#parts;
    const ofUser = await accessTokens.find(token);
    const found = ofUser ?? (await machineTokens.find(token));
    // Refresh tokens, codes and sessions are in other stores, so the hub does not accept them as access tokens.
    if (!found) throw new UnknownToken("The access token is not known here");
    if (!audience.matches(found["aud"])) throw new TokenError("The access token is for another audience");
    return ofUser ? this.#userOf(found) : this.#machineOf(found);
  }

  async #userOf(found: JsonObject): Promise<Identity> {
    const { users, issuer, providers } = this.#parts;
    const clientId = String(found["clientId"]);
    const user = await users.findBySub(String(found["accountId"]));
    if (!user) throw new TokenError("The user of the access token does not exist any more");
    const groups = groupsOfUser(user, providers);
    if (!groups) throw new TokenError("The account of the access token may not use this hub any more");
    if (!(await this.#hasClient(clientId))) throw new TokenError("The client of the access token was removed");
    const id = `${issuer}|user|${user.sub}`;
    const claims = isJsonObject(found["extra"]) ? found["extra"] : {};
    return { kind: "user", id, name: user.name, isNameUnique: true, clientId, groups, ...this.#common(found), claims };
  }

  #machineOf(found: JsonObject): Identity {
    const clientId = String(found["clientId"]);
    if (!this.#parts.machines.has(clientId)) throw new TokenError("The client of the access token was removed");
    const id = `${this.#parts.issuer}|client|${clientId}`;
    return { kind: "client", id, name: clientId, clientId, groups: [], ...this.#common(found) };
  }

  #common({ scope, exp, jkt }: JsonObject): Pick<Identity, "issuer" | "scopes" | "claims" | "expiresAt" | "boundKey"> {
    return {
      issuer: this.#parts.issuer,
      scopes: typeof scope === "string" ? scope.split(" ") : [],
      claims: {},
      ...(typeof exp === "number" && { expiresAt: exp * 1000 }),
      ...(typeof jkt === "string" && { boundKey: jkt }),
    };
  }

  /**
   * Returns true if the client may still use its tokens: it is registered, configured, the console, or a client that is
   * identified by the URL of its metadata document.
   */
  async #hasClient(id: string): Promise<boolean> {
    const isConfigured = id === CONSOLE_CLIENT || this.#parts.machines.has(id);
    return id.startsWith("https://") || isConfigured || this.#parts.clients.has(id);
  }
}
