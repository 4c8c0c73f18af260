/** Part of ioredis that the store uses. */
export interface RedisClient {
  call(command: string, ...parts: (string | number)[]): Promise<unknown>;
  on(event: string, listener: (...values: never[]) => void): unknown;
  connect(): Promise<void>;
  subscribe(channel: string): Promise<unknown>;
  duplicate(): RedisClient;
  disconnect(reconnect?: boolean): void;
}

export interface RedisLibrary {
  readonly Redis: new (url: string, options: object) => RedisClient;
}

/** Milliseconds after which a command without an answer fails. */
const COMMAND_TIMEOUT_MS = 2000;
/** Maximum milliseconds between two attempts to connect. */
const MAX_RETRY_MS = 1000;
const RETRY_STEP_MS = 50;

/** Creates a client that is not connected yet. It reconnects by itself; while it is disconnected, commands fail. */
export function createClient({ Redis }: RedisLibrary, url: string): RedisClient {
  return new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    // A command must not be sent twice: its first copy may have been executed.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: COMMAND_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (attempt: number) => Math.min(attempt * RETRY_STEP_MS, MAX_RETRY_MS),
  });
}
