import { createHmac } from "node:crypto";
import type { JsonObject } from "../../core/json/json.ts";
import { StoreLostError } from "../../state/ports/store.ts";
import type { AuthState } from "../../state/ports/auth-state.ts";
import { OutboundClient } from "../../outbound/outbound-client.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import type { Audience } from "../audience.ts";
import { ProofVerifier } from "../dpop/proof-verifier.ts";
import { ClientAdapter, RecordAdapter, ReplayAdapter, type ModelAdapter } from "./adapter.ts";
import { openAccounts } from "./accounts.ts";
import {
  takeAssertion,
  type AssertedAccess,
  type AssertionRequest,
  type ProofCheck,
} from "./assertions/assertion-grant.ts";
import { AssertionVerifier } from "./assertions/assertion-verifier.ts";
import { BuiltinVerifier } from "./builtin-verifier.ts";
import { createDocumentFetch } from "./client-documents.ts";
import { groupsOfUser } from "./federation/account.ts";
import { Federation } from "./federation/federation.ts";
import { areSameKeys, KEYS_CHECK_MS, loadServerKeys, type ServerKeys } from "./keys.ts";
import { bridge, type BridgedAnswer, type BridgedRequest } from "./node-bridge.ts";
import type { AuthServerOptions } from "./options.ts";
import { Passwords } from "./passwords.ts";
import type { DeviceContext, DevicePage, ErrorContext, RegisteredOidcClient } from "./device-flow.ts";
import {
  AUTH_ROUTES,
  createProvider,
  type Interaction,
  type LibraryErrors,
  type OidcProvider,
  type ProviderClass,
} from "./provider.ts";
import type { ClientRegistry } from "./client-registry.ts";
import { RecordStore } from "./record-store.ts";
import { isSameText } from "./same-text.ts";
import { notingLoss, withStoreLoss } from "./store-loss.ts";
import type { Users } from "./users.ts";

export interface AuthServerParts {
  readonly options: AuthServerOptions;
  /** Opens the state: on disk, or in the store that several hubs share. Rejects with a `StoreLostError`. */
  readonly openState: () => Promise<AuthState>;
  /**
   * Announces ended access to everything that caches verified tokens: the digests of the tokens, or none if the rights
   * of any token may have changed.
   */
  readonly announce: (tokens: readonly string[]) => void;
  readonly audience: Audience;
  /** True if access tokens must be bound to a key (RFC 9449). @default false */
  readonly requiresDpop?: boolean;
  /** Returns the secret for the nonces of proofs. Absent if proofs need no nonce. */
  readonly nonceSecret?: (() => Uint8Array) | undefined;
  readonly environment: ProxyEnvironment;
  readonly loadLibrary: () => Promise<AuthLibrary>;
  readonly report: (problem: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Reads client ID metadata documents. @default reads from public internet addresses only */
  readonly fetchDocument?: (url: string | URL) => Promise<Response>;
}

/** The part of `oidc-provider` that the hub uses. */
export interface AuthLibrary {
  readonly Provider: ProviderClass;
  readonly errors: LibraryErrors;
}

/** A sign-in that waits for its user, with the client that started it. */
export interface PendingSignIn {
  readonly interaction: Interaction;
  readonly client: RegisteredOidcClient;
  /** CSRF token that the form sends back. Pages of other sites cannot read it. */
  readonly csrf: string;
  /** Returns whether a form of this hub, or of another hub with older keys, has sent the CSRF token. */
  readonly isOwnForm: (csrf: string) => boolean;
}

/** A request without the address of the hub, which the server adds. */
export type AuthRequest = Omit<BridgedRequest, "baseUrl">;

const SWEEP_MS = 10 * 60_000;
/** Models with records that belong to one user. */
const USER_MODELS = ["Session", "Grant", "AccessToken", "RefreshToken", "AuthorizationCode", "DeviceCode"];
/** Models with records that belong to one grant. */
const GRANT_MODELS = ["AccessToken", "RefreshToken", "AuthorizationCode", "DeviceCode"];
/** Models of access tokens, which hubs cache after their verification. */
const TOKEN_MODELS: ReadonlySet<string> = new Set(["AccessToken", "ClientCredentials"]);

interface Running {
  readonly provider: OidcProvider;
  readonly keys: ServerKeys;
}

/** Authorization server inside the hub. The first request loads its library, `oidc-provider`. */
export class AuthServer {
  readonly passwords = new Passwords();
  readonly state: AuthState;
  readonly users: Users;
  readonly clients: ClientRegistry;
  readonly verifier: BuiltinVerifier;
  readonly federation: Federation;
  readonly #parts: AuthServerParts;
  readonly #stores = new Map<string, RecordStore>();
  readonly #outbound: OutboundClient;
  readonly #assertions: AssertionVerifier;
  readonly #proofs: ProofCheck;
  readonly #sweep: NodeJS.Timeout;
  /** Address of the hub, which is the issuer. */
  readonly baseUrl: string;
  #running: Promise<Running> | undefined;
  /** Time of the last check of the keys, in milliseconds since 1970. */
  #keysCheckedAt = -Infinity;
  /** Renders the page for an error. Set by the endpoint. */
  renderError: (context: ErrorContext, out: JsonObject) => void = (context, out) => void (context.body = out);

  /** Renders a page of the device flow. Set by the endpoint. */
  renderDevicePage: (context: DeviceContext, page: DevicePage) => void = () => {};

  constructor(parts: AuthServerParts, state: AuthState, baseUrl: string) {
    const { options, audience, environment } = parts;
    const { users, clients } = openAccounts(state, () => parts.announce([]));
    this.#parts = parts;
    this.baseUrl = baseUrl;
    this.state = state;
    this.users = users;
    this.clients = clients;
    this.#outbound = new OutboundClient({ userAgent: "toolyard", environment });
    this.verifier = new BuiltinVerifier({
      accessTokens: this.#store("AccessToken"),
      machineTokens: this.#store("ClientCredentials"),
      users,
      clients,
      machines: new Set(options.machines.map(({ id }) => id)),
      audience,
      issuer: baseUrl,
      providers: options.providers,
    });
    this.federation = new Federation({
      providers: options.providers,
      environment,
      users,
      waiting: this.#store("FederatedSignIn"),
      baseUrl,
      now: parts.now,
    });
    this.#assertions = new AssertionVerifier({
      providers: options.providers,
      environment,
      issuer: baseUrl,
      isResource: (resource) => audience.matches(resource),
      now: parts.now,
    });
    this.#proofs = createProofCheck(parts, baseUrl);
    this.#sweep = setInterval(() => void this.#removeExpired(), SWEEP_MS).unref();
  }

  get options(): AuthServerOptions {
    return this.#parts.options;
  }

  /** Answers a request to one of the protocol's endpoints. Rejects with a `StoreLostError`, like the methods below. */
  async answer(request: AuthRequest): Promise<BridgedAnswer> {
    const { provider } = await this.#run();
    const { request: incoming, response, answered } = bridge({ ...request, baseUrl: this.baseUrl });
    return withStoreLoss(async () => {
      await provider.callback()(incoming, response);
      return answered;
    });
  }

  /**
   * Resolves with the pending sign-in of a browser. Resolves with `undefined` if there is none, or if another browser
   * started the sign-in.
   */
  async findPending(request: AuthRequest): Promise<PendingSignIn | undefined> {
    const { provider, keys } = await this.#run();
    const { request: incoming, response } = bridge({ ...request, baseUrl: this.baseUrl });
    const interaction = await provider.interactionDetails(incoming, response).catch((error: unknown) => {
      if (error instanceof StoreLostError) throw error;
      return undefined;
    });
    const client = interaction && (await provider.Client.find(interaction.params["client_id"] ?? ""));
    if (!interaction || !client) return undefined;
    const tokens = keys.cookies.map((key) =>
      createHmac("sha256", key).update(`csrf ${interaction.jti}`).digest("base64url"),
    );
    return {
      interaction,
      client,
      csrf: tokens[0]!,
      isOwnForm: (csrf) => tokens.some((token) => isSameText(csrf, token)),
    };
  }

  /** Completes the sign-in with `result`. Resolves with the URL at which the browser continues. */
  async finish(request: AuthRequest, result: JsonObject): Promise<string> {
    const { provider } = await this.#run();
    const { request: incoming, response } = bridge({ ...request, baseUrl: this.baseUrl });
    return provider.interactionResult(incoming, response, result);
  }

  /** Grants the client everything that it requests. Resolves with the id of the grant. */
  async grant({ interaction, client }: PendingSignIn): Promise<string> {
    const { provider } = await this.#run();
    const { details } = interaction.prompt;
    const grant = new provider.Grant({
      accountId: interaction.session?.accountId ?? "",
      clientId: client.clientId,
    });
    grant.addOIDCScope(scopesIn(details["missingOIDCScope"]));
    for (const [resource, scopes] of Object.entries((details["missingResourceScopes"] ?? {}) as JsonObject))
      grant.addResourceScope(resource, scopesIn(scopes));
    return grant.save();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([this.federation.close(), this.#assertions.close(), this.#outbound.close()]);
  }

  get #hasAssertions(): boolean {
    return this.options.providers.some(({ assertionClients }) => assertionClients.length > 0);
  }

  #takeAssertion(request: AssertionRequest): Promise<AssertedAccess> {
    const { scopes } = this.options;
    const used = this.#store("UsedAssertion");
    const [verifier, proofs] = [this.#assertions, this.#proofs];
    return takeAssertion(request, { verifier, proofs, users: this.users, used, scopes });
  }

  /** Returns the running library. Reads the keys again from time to time, since another hub may have replaced them. */
  #run(): Promise<Running> {
    const now = this.#parts.now();
    if (this.#running && now - this.#keysCheckedAt < KEYS_CHECK_MS) return this.#running;
    this.#keysCheckedAt = now;
    const running = this.#renew(this.#running);
    this.#running = running;
    running.catch(() => {
      if (this.#running === running) this.#running = undefined;
    });
    return running;
  }

  /** Starts the library if it does not run with the current keys. If they cannot be read, it continues to run. */
  async #renew(running: Promise<Running> | undefined): Promise<Running> {
    const before = await running?.catch(() => undefined);
    try {
      const keys = await loadServerKeys(this.state.keys, this.#parts.now());
      return before && areSameKeys(before.keys, keys) ? before : await this.#start(keys);
    } catch (error) {
      if (before) return before;
      throw error;
    }
  }

  async #start(keys: ServerKeys): Promise<Running> {
    const { options, audience, requiresDpop = false, nonceSecret } = this.#parts;
    const { Provider: Class, errors } = await this.#parts.loadLibrary();
    const provider = createProvider(Class, {
      issuer: this.baseUrl,
      options,
      keys,
      createAdapter: (model) => notingLoss(this.#adapter(model, errors)),
      findUser: async (sub) => {
        const user = await this.users.findBySub(sub);
        return user && groupsOfUser(user, options.providers) ? user : undefined;
      },
      isResource: (resource) => audience.matches(resource),
      requiresDpop,
      nonceSecret: nonceSecret?.(),
      fetchDocument: this.#parts.fetchDocument ?? createDocumentFetch(this.#outbound),
      renderError: (context, out) => this.renderError(context, out),
      renderDevicePage: (context, page) => this.renderDevicePage(context, page),
      errors,
      ...(this.#hasAssertions && { takeAssertion: (request) => this.#takeAssertion(request) }),
    });
    return { provider, keys };
  }

  /** Ends all sessions of a user and revokes its tokens. */
  async signOutUser(sub: string): Promise<void> {
    await Promise.all(USER_MODELS.map((model) => this.#store(model).removeBy("accountId", sub)));
  }

  /** Revokes all tokens of a grant. The grant ends first, so that none of its tokens can be renewed. */
  async #revokeGrant(grantId: string): Promise<void> {
    await this.#store("Grant").remove(grantId);
    await Promise.all(GRANT_MODELS.map((model) => this.#store(model).removeBy("grantId", grantId)));
  }

  #adapter(model: string, { InvalidGrant }: LibraryErrors): ModelAdapter {
    const { now } = this.#parts;
    if (model === "Client") return new ClientAdapter(this.clients);
    if (model === "ReplayDetection") return new ReplayAdapter(this.#store(model), now);
    return new RecordAdapter({
      model,
      store: this.#store(model),
      now,
      revokeGrant: (grantId) => this.#revokeGrant(grantId),
      usedBefore: () => new InvalidGrant("the code or token was used before, or its grant was revoked"),
    });
  }

  #store(model: string): RecordStore {
    const announce = TOKEN_MODELS.has(model) ? this.#parts.announce : undefined;
    const known = this.#stores.get(model) ?? new RecordStore(this.state.records(model), announce);
    this.#stores.set(model, known);
    return known;
  }

  async #removeExpired(): Promise<void> {
    try {
      for (const store of this.#stores.values()) await store.sweep();
    } catch (error) {
      this.#parts.report(`Expired records of the sign-in could not be removed: ${String(error)}`);
    }
  }
}

/**
 * Creates the check of proofs in token requests with an assertion. For all other grants, `oidc-provider` checks the
 * proofs.
 */
function createProofCheck({ now, nonceSecret, requiresDpop = false }: AuthServerParts, baseUrl: string): ProofCheck {
  const verifier = new ProofVerifier({ now, ...(nonceSecret && { nonceSecret }) });
  const request = { method: "POST", url: `${baseUrl}${AUTH_ROUTES.token}` };
  return { isRequired: requiresDpop, thumbprintOf: (proof) => verifier.verify(proof, request) };
}

function scopesIn(value: unknown): string {
  const scopes = Array.isArray(value) || value instanceof Set ? Array.from(value as Iterable<unknown>) : [];
  return scopes.filter((scope) => typeof scope === "string").join(" ");
}
