import { readFileSync } from "node:fs";
import { messageOf, OptionError } from "../../core/errors.ts";
import type { RedisStoreOptions } from "./options.ts";

/** Part of ioredis that the store uses, the same for one server and for a cluster. */
export interface RedisClient {
  call(command: string, ...parts: (string | number | Buffer)[]): Promise<unknown>;
  on(event: string, listener: (...values: never[]) => void): unknown;
  connect(): Promise<void>;
  subscribe(...channels: string[]): Promise<unknown>;
  duplicate(): RedisClient;
  disconnect(reconnect?: boolean): void;
  /** Socket of the current connection. Absent for a cluster. */
  readonly stream?: { on(event: "error", listener: () => void): unknown };
}

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export interface RedisLibrary {
  readonly Redis: new (options: object) => RedisClient;
  readonly Cluster: new (nodes: readonly HostAndPort[], options: object) => RedisClient;
}

/** Milliseconds after which a command without an answer fails. */
const COMMAND_TIMEOUT_MS = 2000;
/** Maximum milliseconds between two attempts to connect. */
const MAX_RETRY_MS = 1000;
const RETRY_STEP_MS = 50;
const DEFAULT_PORTS = { standalone: 6379, sentinel: 26_379, cluster: 6379 } as const;

/** Creates a client that is not connected yet. It reconnects by itself; while it is disconnected, commands fail. */
export function createClient(library: RedisLibrary, options: RedisStoreOptions): RedisClient {
  const client = createClientFor(library, options);
  client.on("+node", absorbLateErrors);
  return absorbLateErrors(client);
}

/** Creates a second connection with the same settings. */
export function duplicateClient(client: RedisClient): RedisClient {
  const duplicate = client.duplicate();
  duplicate.on("+node", absorbLateErrors);
  return absorbLateErrors(duplicate);
}

/**
 * Ignores further errors of a socket after the first one. ioredis listens for one error only, and a TLS socket that was
 * refused may report a second, which would end the process.
 */
function absorbLateErrors(client: RedisClient): RedisClient {
  client.on("error", () => client.stream?.on("error", () => {}));
  return client;
}

function createClientFor({ Redis, Cluster }: RedisLibrary, options: RedisStoreOptions): RedisClient {
  const { mode, nodes, master, sentinelPassword } = options;
  const login = loginOf(options);
  const addresses = [new URL(options.url).host, ...nodes].map((text) => readAddress(text, DEFAULT_PORTS[mode]));
  switch (mode) {
    case "standalone":
      return new Redis({ ...addresses[0], ...login, ...COMMAND_OPTIONS });
    case "sentinel":
      return new Redis({
        ...login,
        ...COMMAND_OPTIONS,
        sentinels: addresses,
        name: master,
        ...(login.tls && { sentinelTLS: login.tls, enableTLSForSentinelMode: true }),
        ...(sentinelPassword !== undefined && { sentinelPassword }),
        sentinelRetryStrategy: retryDelay,
      });
    case "cluster":
      return new Cluster(addresses, {
        lazyConnect: true,
        enableOfflineQueue: false,
        clusterRetryStrategy: retryDelay,
        slotsRefreshTimeout: COMMAND_TIMEOUT_MS,
        // A cluster redirects a command before it is executed, so following a redirection does not repeat it.
        maxRedirections: 8,
        redisOptions: { ...login, ...COMMAND_OPTIONS, db: 0 },
        // Host names are not resolved to addresses, because the certificates of a cluster usually contain only host
        // names.
        dnsLookup: (address: string, done: (error: null, address: string) => void) => done(null, address),
      });
  }
}

function retryDelay(attempt: number): number {
  return Math.min(attempt * RETRY_STEP_MS, MAX_RETRY_MS);
}

const COMMAND_OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  // A command must not be sent twice: its first copy may have been executed.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: COMMAND_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  retryStrategy: retryDelay,
};

interface Login {
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: object;
}

function loginOf(options: RedisStoreOptions): Login {
  const { protocol, username, password, pathname } = new URL(options.url);
  const db = Number(pathname.slice(1) || "0");
  return {
    ...(username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== "" && { password: decodeURIComponent(password) }),
    ...(db !== 0 && { db }),
    ...(protocol === "rediss:" && { tls: tlsOf(options) }),
  };
}

function tlsOf({ tlsCa, tlsCert, tlsKey }: RedisStoreOptions): object {
  return {
    ...(tlsCa !== undefined && { ca: readPem("tls_ca", tlsCa) }),
    ...(tlsCert !== undefined && { cert: readPem("tls_cert", tlsCert) }),
    ...(tlsKey !== undefined && { key: readPem("tls_key", tlsKey) }),
  };
}

function readPem(option: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new OptionError(`\`store.${option}\`: the file ${path} cannot be read: ${messageOf(error)}.`);
  }
}

function readAddress(text: string, defaultPort: number): HostAndPort {
  const { hostname, port } = new URL(`redis://${text}`);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? defaultPort : Number(port) };
}
