import type { Principal } from "../../core/calls/call.ts";
import type { Provider, ProviderStatus } from "../../core/sources/provider.ts";
import type { SignInCoordinator, SignInStarter } from "../../core/ports/sign-in-coordinator.ts";
import type { OpenTransport } from "../../upstream/transports/transport.ts";
import { AutoHttpTransport, type KnownTransport } from "../../upstream/transports/http/auto.ts";
import { HttpClient } from "../../outbound/client/http-client.ts";
import type { HttpConnectionOptions } from "../../upstream/transports/http/http-connection.ts";
import { HttpSseTransport } from "../../upstream/transports/http/http-sse.ts";
import { isLoopback } from "../../core/uris/loopback.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import { StreamableHttpTransport } from "../../upstream/transports/http/streamable-http.ts";
import { TokenSource } from "../../outbound/credentials/token-source.ts";
import { CallSlots } from "../call-slots.ts";
import { createMcpServerProvider, type McpServerDeps, type ServerAdapter } from "../mcp-server/provider.ts";
import { connectionOptions } from "./connection-options.ts";
import { PerCallerProvider } from "./per-caller.ts";
import { signInFace } from "./sign-in-face.ts";
import type { SharedSignIns } from "../../signin/vault-port.ts";
import { SignInGate } from "./sign-in-gate.ts";
import { mayBeSignedIn, signInPlace } from "./sign-in-place.ts";
import type { HttpTransportChoice, RemoteServerOptions } from "./options.ts";

export interface HttpProviderDeps extends Pick<
  McpServerDeps,
  "source" | "logger" | "cacheFolder" | "isSecretFree" | "clientInfo" | "gate" | "coldWaitMs" | "requestIds"
> {
  readonly options: RemoteServerOptions;
  /** Proxy variables and `NODE_EXTRA_CA_CERTS`, from the hub's own environment. */
  readonly environment: ProxyEnvironment;
  /** Sets the access tokens of a source that are redacted in all output; they replace earlier ones. */
  readonly hideFor: (owner: { readonly source: string }, secrets: readonly string[]) => void;
  /** Folder of the vault; absent: users cannot sign in. */
  readonly vaultFolder?: string;
  /** Vault of all hubs of a store, which replaces the one in the folder. @default none */
  readonly sharedVault?: SharedSignIns | undefined;
  /** Coordinator that serves sign-in pages of the hub. @default none */
  readonly desk?: SignInCoordinator;
}

/** Minimum of `idleMs`, the maximum time without data of a response. It applies to requests outside a call. */
const MIN_IDLE_MS = 3_600_000;
const REOPEN_DELAY_MS = 1000;
/** Time limit of the first connection after a sign-in. */
const SIGNED_IN_MS = 60_000;

/**
 * Creates an MCP server on HTTP (L60, T30, C15, C21) with its own credentials. Credentials of a caller are never sent
 * to it (S11). With personal sign-ins, each caller has a separate connection.
 */
export function createHttpProvider(given: HttpProviderDeps): Provider {
  const { options, source, desk } = given;
  const scope = {};
  if (options.credentials === "shared" || !options.upstream.enabled) {
    const { provider, gate } = createOne({ ...given, scope });
    return withPage(provider, desk, { isPersonal: false, ...signInsOf(() => gate) });
  }
  const gates = new WeakMap<Provider, SignInGate | undefined>();
  const slots = new CallSlots(options.upstream.maxConcurrent);
  const people = new PerCallerProvider({
    source,
    open: (principal) => {
      const { provider, gate } = createOne({ ...given, slots, scope }, { principal });
      gates.set(provider, gate);
      return provider;
    },
  });
  const gateOf = (principal: Principal): SignInGate | undefined => gates.get(people.providerOf(principal));
  return withPage(people, desk, { isPersonal: true, ...signInsOf(gateOf) });
}

/** Returns the functions that the hub's sign-in pages call. They use the gate of the principal. */
function signInsOf(gateOf: (principal: Principal) => SignInGate | undefined): Omit<SignInStarter, "isPersonal"> {
  return {
    begin: async (caller) => gateOf(caller.principal)?.begin(caller),
    find: async (principal) => gateOf(principal)?.find(),
    signOut: async (caller) => gateOf(caller.principal)?.signOut(caller),
  };
}

/** Registers the source with the hub's own sign-in page while the provider is open. */
function withPage(provider: Provider, desk: SignInCoordinator | undefined, starter: SignInStarter): Provider {
  if (!desk) return provider;
  const { id } = provider.source;
  desk.sources.set(id, starter);
  const close = provider.close.bind(provider);
  return Object.assign(provider, {
    close: async () => {
      if (desk.sources.get(id) === starter) desk.sources.delete(id);
      await close();
    },
  });
}

/**
 * Principal that owns a connection, if each principal has its own. Without a principal, the connection is the anonymous
 * one.
 */
interface SourcePrincipal {
  readonly principal: string | undefined;
}

interface OneDeps extends HttpProviderDeps {
  readonly slots?: CallSlots;
  /** Object by which the limits of sign-ins are shared: the same for all principals of the source. */
  readonly scope: object;
}

interface PrincipalSource {
  readonly provider: Provider;
  /** Sign-in of the principal. Absent if users cannot sign in. */
  readonly gate: SignInGate | undefined;
}

function createOne(given: OneDeps, person?: SourcePrincipal): PrincipalSource {
  const { options, environment, hideFor, vaultFolder: _, sharedVault: _shared, desk: __, scope: ___, ...deps } = given;
  const { source } = deps;
  const refresh = async (signal: AbortSignal): Promise<void> => provider.refresh?.(signal);
  const gate = createGate(given, person, () => void refresh(AbortSignal.timeout(SIGNED_IN_MS)).catch(() => {}));
  const tokens = createTokens(options, environment, { source, hideFor });
  const credentials = tokens ?? gate;
  warnOfOpenCredentials(options, deps);
  const client = new HttpClient({
    ...connectionOptions(options.url, options, environment),
    label: source.id,
    headers: options.headers,
    maxConnections: options.maxConnections,
    ...(credentials && { credentials }),
    ...(gate ? { remedy: `${gate.remedy}, or configure its credentials.` } : person && { remedy: EACH_FOR_ITSELF }),
  });
  const provider = createMcpServerProvider({
    ...deps,
    options: options.upstream,
    opensCheaply: true,
    openTransport: transportsOver(client, options),
    cacheKey: [options.url.href, ...(person ? [`per-caller ${person.principal ?? ""}`] : [])],
    ...(person && { adapter: PRIVATE }),
    // Personal connections are opened on demand, because there may be many and few are in use.
    ...(person?.principal !== undefined && { lazy: true }),
  });
  const own = ownParts(provider);
  Object.assign(provider, {
    ...(gate && !gate.isMachine && signInFace(own, { gate, refresh, source })),
    status: () => withSignIn(own.status(), gate),
    close: async () => {
      await own.close();
      await client.close();
      await Promise.all([tokens?.close(), gate?.close()]);
    },
  });
  return { provider, gate };
}

/** Returns the provider's methods before they are wrapped. */
function ownParts(provider: Provider): Pick<Provider, "call" | "close" | "listing" | "status"> {
  return {
    call: provider.call.bind(provider),
    close: provider.close.bind(provider),
    listing: provider.listing.bind(provider),
    status: provider.status.bind(provider),
  };
}

const EACH_FOR_ITSELF = "Each caller signs in separately.";

/** Marks the lists as private, because a personal list must not be cached for other callers. */
const PRIVATE: ServerAdapter = { listing: (listing) => ({ ...listing, isPrivate: true }), call: (call) => call };

/** Adds the end of a sign-in to the status. The list and the connection stay in use. */
function withSignIn(status: ProviderStatus, gate: SignInGate | undefined): ProviderStatus {
  const why = gate?.endedBecause;
  if (why === undefined || status.state === "closed" || status.state === "disabled") return status;
  return { ...status, state: "needs_authorisation", lastError: `It ${why}. ${gate!.remedy}.` };
}

/** Creates the gate. Returns undefined if credentials are configured, and for the anonymous connection. */
function createGate(
  { options, environment, hideFor, vaultFolder: folder, sharedVault: shared, source, logger, desk, scope }: OneDeps,
  person: SourcePrincipal | undefined,
  onChanged: () => void,
): SignInGate | undefined {
  const isNobody = person !== undefined && person.principal === undefined;
  if (folder === undefined || isNobody || !mayBeSignedIn(options)) return undefined;
  const owner = { source: source.id };
  const principal = person?.principal;
  return new SignInGate({
    ...signInPlace({ options, environment, label: source.id, logger, folder, shared, principal }),
    principal,
    scope,
    desk,
    onSecrets: (secrets) => hideFor(owner, secrets),
    onChanged,
  });
}

function createTokens(
  options: RemoteServerOptions,
  environment: ProxyEnvironment,
  { source, hideFor }: Pick<HttpProviderDeps, "source" | "hideFor">,
): TokenSource | undefined {
  const { clientCredentials: credentials } = options;
  if (!credentials) return undefined;
  const url = new URL(credentials.tokenUrl);
  const client = new HttpClient({
    ...connectionOptions(url, options, environment),
    label: source.id,
    headers: {},
    maxConnections: 1,
  });
  const owner = { source: source.id };
  return new TokenSource({ label: source.id, credentials, client, onTokens: (secrets) => hideFor(owner, secrets) });
}

function warnOfOpenCredentials(
  { url, headers, clientCredentials }: RemoteServerOptions,
  { source, logger }: Pick<HttpProviderDeps, "source" | "logger">,
): void {
  const hasCredentials = clientCredentials !== undefined || "authorization" in headers;
  if (!hasCredentials || url.protocol !== "http:" || isLoopback(url.hostname)) return;
  logger.warning("The token of this server is sent unencrypted. Use https if the network is not your own.", {
    source: source.id,
    host: url.host,
  });
}

function transportsOver(client: HttpClient, { transport, upstream }: RemoteServerOptions): OpenTransport {
  const connection: HttpConnectionOptions = {
    client,
    maxMessageBytes: upstream.maxMessageBytes,
    maxMessageParts: upstream.maxMessageParts,
    idleMs: Math.max(MIN_IDLE_MS, upstream.limits.totalTimeoutMs ?? 0, ...Object.values(upstream.shape.toolTimeouts)),
    reopenDelayMs: REOPEN_DELAY_MS,
  };
  const framing: KnownTransport = {};
  const makers: Record<HttpTransportChoice, OpenTransport> = {
    auto: (caller) => new AutoHttpTransport({ ...connection, caller }, framing),
    streamable: (caller) => new StreamableHttpTransport({ ...connection, caller }),
    sse: (caller) => new HttpSseTransport({ ...connection, caller }),
  };
  return makers[transport];
}
