import { createHmac } from "node:crypto";
import type { JsonObject } from "../../core/json/json.ts";
import { OutboundClient } from "../../outbound/outbound-client.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import type { Audience } from "../audience.ts";
import { ProofVerifier } from "../dpop/proof-verifier.ts";
import { ClientAdapter, RecordAdapter, ReplayAdapter, type ModelAdapter } from "./adapter.ts";
import { authFiles, type AuthFiles } from "./auth-folder.ts";
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
import { loadServerKeys, type ServerKeys } from "./keys.ts";
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
import { RecordStore } from "./record-store.ts";

export interface AuthServerParts {
  readonly options: AuthServerOptions;
  /** Data folder of the hub. */
  readonly dataFolder: string;
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
}

/** A request without the address of the hub, which the server adds. */
export type AuthRequest = Omit<BridgedRequest, "baseUrl">;

const SWEEP_MS = 10 * 60_000;
/** Models with records that belong to one user. */
const USER_MODELS = ["Session", "Grant", "AccessToken", "RefreshToken", "AuthorizationCode", "DeviceCode"];

interface Running {
  readonly provider: OidcProvider;
  readonly keys: ServerKeys;
}

/** Authorization server inside the hub. The first request loads its library, `oidc-provider`. */
export class AuthServer {
  readonly passwords = new Passwords();
  readonly files: AuthFiles;
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
  /** Renders the page for an error. Set by the endpoint. */
  renderError: (context: ErrorContext, out: JsonObject) => void = (context, out) => void (context.body = out);

  /** Renders a page of the device flow. Set by the endpoint. */
  renderDevicePage: (context: DeviceContext, page: DevicePage) => void = () => {};

  constructor(parts: AuthServerParts, baseUrl: string) {
    const { options, dataFolder, audience, environment } = parts;
    const files = authFiles(dataFolder);
    this.#parts = parts;
    this.baseUrl = baseUrl;
    this.files = files;
    this.#outbound = new OutboundClient({ userAgent: "toolyard", environment });
    this.verifier = new BuiltinVerifier({
      accessTokens: this.#store("AccessToken"),
      machineTokens: this.#store("ClientCredentials"),
      users: files.users,
      clients: files.clients,
      machines: new Set(options.machines.map(({ id }) => id)),
      audience,
      issuer: baseUrl,
      providers: options.providers,
    });
    this.federation = new Federation({
      providers: options.providers,
      environment,
      users: files.users,
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

  /** Answers a request to one of the protocol's endpoints. */
  async answer(request: AuthRequest): Promise<BridgedAnswer> {
    const { provider } = await this.#run();
    const { request: incoming, response, answered } = bridge({ ...request, baseUrl: this.baseUrl });
    await provider.callback()(incoming, response);
    return answered;
  }

  /**
   * Resolves with the pending sign-in of a browser. Resolves with `undefined` if there is none, or if another browser
   * started the sign-in.
   */
  async findPending(request: AuthRequest): Promise<PendingSignIn | undefined> {
    const { provider, keys } = await this.#run();
    const { request: incoming, response } = bridge({ ...request, baseUrl: this.baseUrl });
    const interaction = await provider.interactionDetails(incoming, response).catch(() => undefined);
    const client = interaction && (await provider.Client.find(interaction.params["client_id"] ?? ""));
    if (!interaction || !client) return undefined;
    const csrf = createHmac("sha256", keys.cookies[0]!).update(`csrf ${interaction.jti}`).digest("base64url");
    return { interaction, client, csrf };
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
    return takeAssertion(request, { verifier, proofs, users: this.files.users, used, scopes });
  }

  #run(): Promise<Running> {
    if (this.#running) return this.#running;
    const running = this.#start();
    this.#running = running;
    running.catch(() => {
      if (this.#running === running) this.#running = undefined;
    });
    return running;
  }

  async #start(): Promise<Running> {
    const { options, audience, requiresDpop = false, nonceSecret, now } = this.#parts;
    const { files } = this;
    const { Provider: Class, errors } = await this.#parts.loadLibrary();
    const keys = await loadServerKeys(files.keys, now());
    const provider = createProvider(Class, {
      issuer: this.baseUrl,
      options,
      keys,
      createAdapter: (model) => this.#adapter(model),
      findUser: (sub) => {
        const user = files.users.findBySub(sub);
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
    await Promise.all(USER_MODELS.map((model) => this.#store(model).removeWhere(({ accountId }) => accountId === sub)));
  }

  #adapter(model: string): ModelAdapter {
    const { now } = this.#parts;
    if (model === "Client") return new ClientAdapter(this.files.clients);
    if (model === "ReplayDetection") return new ReplayAdapter(this.#store(model), now);
    return new RecordAdapter({ model, store: this.#store(model), now });
  }

  #store(model: string): RecordStore {
    const known = this.#stores.get(model) ?? new RecordStore(this.files.recordsOf(model), this.#parts.now);
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
