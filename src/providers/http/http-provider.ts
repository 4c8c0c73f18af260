import { FailError } from "../../core/errors.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Provider, ProviderStatus, ResolvedCall } from "../../core/provider.ts";
import type { OpenTransport } from "../../upstream/transport.ts";
import { AutoHttpTransport, type Framing } from "../../upstream/http/auto.ts";
import { HttpClient } from "../../outbound/client/http-client.ts";
import type { HttpConnectionOptions } from "../../upstream/http/http-connection.ts";
import { HttpSseTransport } from "../../upstream/http/http-sse.ts";
import { isLoopback } from "../../core/loopback.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import { StreamableHttpTransport } from "../../upstream/http/streamable-http.ts";
import { TokenSource } from "../../outbound/credentials/token-source.ts";
import { loginCommand } from "../../core/login-command.ts";
import { createMcpServerProvider, type McpServerDeps } from "../mcp-server/provider.ts";
import { connectionOptions } from "./connection-options.ts";
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
  /** Hears of the access tokens that are in use, in place of those before, so that they are shown nowhere. */
  readonly hideFor: (owner: object, secrets: readonly string[]) => void;
  /** Where sign-ins are kept; absent: nobody can sign in. */
  readonly vaultFolder?: string;
}

/** Silence of a response that ends it where no call's deadline does so before. */
const MIN_IDLE_MS = 3_600_000;
const REOPEN_DELAY_MS = 1000;

/**
 * An MCP server on HTTP (L60, T30, C15, C21), with credentials of its own; nothing that a caller brought goes there
 * (S11).
 */
export function createHttpProvider(given: HttpProviderDeps): Provider {
  const { options, environment, hideFor, vaultFolder: _, ...deps } = given;
  const gate = createGate(given, () => void provider.refresh?.(AbortSignal.timeout(SIGNED_IN_MS)).catch(() => {}));
  const tokens = createTokens(options, environment, { source: deps.source, hideFor });
  const credentials = tokens ?? gate;
  warnOfOpenCredentials(options, deps);
  const client = new HttpClient({
    ...connectionOptions(options.url, options, environment),
    label: deps.source.id,
    headers: options.headers,
    maxConnections: options.maxConnections,
    ...(credentials && { credentials }),
    ...(gate && { remedy: `Sign in with \`${loginCommand(deps.source.id)}\`, or configure its credentials.` }),
  });
  const provider = createMcpServerProvider({
    ...deps,
    options: options.upstream,
    opensCheaply: true,
    openTransport: transportsOver(client, options),
    cacheKey: [options.url.href],
  });
  const close = provider.close.bind(provider);
  const status = provider.status.bind(provider);
  const callOnce = provider.call.bind(provider);
  return Object.assign(provider, {
    ...(gate && { call: (call: ResolvedCall) => callSignedIn(call, callOnce, gate) }),
    status: () => withSignIn(status(), gate),
    close: async () => {
      await close();
      await client.close();
      await Promise.all([tokens?.close(), gate?.close()]);
    },
  });
}

async function callSignedIn(call: ResolvedCall, callOnce: Provider["call"], gate: SignInGate): Promise<Outcome> {
  const outcome = await callOnce(call);
  if (outcome.ok || outcome.kind !== "needs_authorisation") return outcome;
  try {
    return (await gate.signInBy(call)) ? await callOnce(call) : outcome;
  } catch (error) {
    if (!(error instanceof FailError)) throw error;
    const { failure } = error;
    // That the issuer is away says nothing of the call, which would be made again for it.
    return failure.kind === "needs_authorisation" || failure.kind === "cancelled" ? failure : outcome;
  }
}

/** How long the first connection after a sign-in may take. */
const SIGNED_IN_MS = 60_000;

/** The list stays while nobody is signed in any more, and so does the connection. */
function withSignIn(status: ProviderStatus, gate: SignInGate | undefined): ProviderStatus {
  const why = gate?.endedBecause;
  if (why === undefined || status.state === "closed" || status.state === "disabled") return status;
  const lastError = `It ${why}. Sign in with \`${gate!.command}\`.`;
  return { ...status, state: "needs_authorisation", lastError };
}

/** Whoever has credentials of their own in the configuration is not signed in. */
function createGate(
  { options, environment, hideFor, vaultFolder: folder, source, logger }: HttpProviderDeps,
  onSignedIn: () => void,
): SignInGate | undefined {
  if (folder === undefined || !mayBeSignedIn(options)) return undefined;
  const owner = {};
  return new SignInGate({
    ...signInPlace({ options, environment, label: source.id, logger, folder }),
    onSecrets: (secrets) => hideFor(owner, secrets),
    onSignedIn,
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
  const owner = {};
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
    idleMs: Math.max(MIN_IDLE_MS, upstream.limits.totalTimeoutMs ?? 0, ...Object.values(upstream.shape.toolTimeouts)),
    reopenDelayMs: REOPEN_DELAY_MS,
  };
  const framing: Framing = {};
  const makers: Record<HttpTransportChoice, OpenTransport> = {
    auto: () => new AutoHttpTransport(connection, framing),
    streamable: () => new StreamableHttpTransport(connection),
    sse: () => new HttpSseTransport(connection),
  };
  return makers[transport];
}
