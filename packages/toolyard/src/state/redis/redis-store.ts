import { randomBytes } from "node:crypto";
import { Emitter } from "../../core/events.ts";
import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { SILENT_LOGGER, type Logger } from "../../core/ports/ports.ts";
import { MemoryEventLog } from "../memory/event-log.ts";
import type { EventLog, EventLogLimits } from "../ports/event-log.ts";
import type { HubNotification, HubNotifications } from "../ports/hub-notifications.ts";
import type { HubState, StoreServices } from "../ports/store.ts";
import { createClient, type RedisClient, type RedisLibrary } from "./client.ts";
import { RedisConnection } from "./connection.ts";
import { RedisParkedDirectory, RedisSessionRecords } from "./held-records.ts";
import { HUB_LEASE_MS, HubLeases } from "./leases.ts";
import { RedisLimitStore } from "./limit-store.ts";
import type { RedisStoreOptions } from "./options.ts";

const SECRET_BYTES = 32;
/** Milliseconds for which the secret outlives the last hub. */
const SECRET_TTL_MS = 30 * 24 * 3_600_000;
/** Milliseconds between two readings of the store's clock. */
const REFRESH_MS = 60_000;

interface JoinServices extends StoreServices {
  readonly hub: string;
}

/** Connects a hub to the store. Rejects if the store cannot be reached or the extra `redis` is not installed. */
export async function joinRedisStore(
  options: RedisStoreOptions,
  { hub, importRedis, logger = SILENT_LOGGER }: JoinServices,
): Promise<HubState> {
  const client = createClient((await importRedis()) as RedisLibrary, options.url);
  const subscriber = client.duplicate();
  const connection = new RedisConnection(client, logger);
  // The connection for commands reports a lost store for both.
  subscriber.on("error", () => {});
  try {
    await Promise.all([client.connect(), subscriber.connect()]);
    await connection.readClock();
    const secret = await shareSecret(connection, options.prefix, randomBytes(SECRET_BYTES));
    const state = new RedisHubState({ hub, connection, options, secret, subscriber });
    await state.listen();
    return state;
  } catch (error) {
    connection.close();
    subscriber.disconnect();
    throw error;
  }
}

/** Returns the secret of the store. Stores `own` if the store has none, also after it lost its data. */
async function shareSecret(connection: RedisConnection, prefix: string, own: Uint8Array): Promise<Uint8Array> {
  const key = `${prefix}secret`;
  await connection.command("SET", key, Buffer.from(own).toString("hex"), "NX", "PX", SECRET_TTL_MS);
  const stored = await connection.command("GET", key);
  await connection.command("PEXPIRE", key, SECRET_TTL_MS);
  return typeof stored === "string" ? Buffer.from(stored, "hex") : own;
}

interface RedisHubParts {
  readonly hub: string;
  readonly connection: RedisConnection;
  readonly options: RedisStoreOptions;
  readonly secret: Uint8Array;
  readonly subscriber: RedisClient;
}

class RedisHubState implements HubState {
  readonly hub: string;
  readonly leaseMs = HUB_LEASE_MS;
  readonly secret: Uint8Array;
  readonly limits: RedisLimitStore;
  readonly sessions: RedisSessionRecords;
  readonly parked: RedisParkedDirectory;
  readonly notifications: HubNotifications;
  readonly #parts: RedisHubParts;
  readonly #leases: HubLeases;
  readonly #received = new Emitter<HubNotification>();
  /** Time of the last reading of the clock, on the clock of `performance.now()`. */
  #refreshedAt = performance.now();

  constructor(parts: RedisHubParts) {
    const { hub, connection, options, secret } = parts;
    const { prefix } = options;
    this.#parts = parts;
    this.hub = hub;
    this.secret = secret;
    this.limits = new RedisLimitStore({ hub, connection, options });
    this.#leases = new HubLeases({ hub, connection, prefix });
    this.sessions = new RedisSessionRecords({ hub, connection, prefix: `${prefix}session:`, leases: this.#leases });
    this.parked = new RedisParkedDirectory({ hub, connection, prefix: `${prefix}parked:`, leases: this.#leases });
    this.notifications = {
      publish: (notification) => this.#publish(notification),
      on: (listener) => this.#received.on(listener),
    };
    connection.restored.on(() => this.#restore());
  }

  /** Starts to receive notifications. The client subscribes again by itself after it has reconnected. */
  async listen(): Promise<void> {
    const { subscriber } = this.#parts;
    subscriber.on("message", (_channel: string, text: string) => {
      const notification = parseNotification(text);
      if (notification) this.#received.emit(notification);
    });
    await subscriber.subscribe(this.#channel);
    this.renew();
  }

  reportTo(logger: Pick<Logger, "info" | "warning">): void {
    this.#parts.connection.reportTo(logger);
  }

  /** Opens a log in memory. Only the hub that holds a session reads its events. */
  openEventLog(limits: EventLogLimits): EventLog {
    return new MemoryEventLog(limits);
  }

  renew(): void {
    if (this.#parts.connection.isLost) return;
    this.#refresh();
    this.#leases.renew();
    this.limits.renew();
    this.sessions.keys.renew();
    this.parked.keys.renew();
  }

  /** Reads the clock again, since clocks are adjusted, and keeps the secret for as long as a hub runs. */
  #refresh(): void {
    const now = performance.now();
    if (now - this.#refreshedAt < REFRESH_MS) return;
    this.#refreshedAt = now;
    const { connection, options } = this.#parts;
    connection.write(connection.readClock());
    connection.write(connection.command("PEXPIRE", `${options.prefix}secret`, SECRET_TTL_MS));
  }

  flush(): Promise<void> {
    return this.#parts.connection.flush();
  }

  async leave(): Promise<void> {
    const { connection, subscriber } = this.#parts;
    if (!connection.isLost) {
      this.limits.release();
      this.sessions.keys.release();
      this.parked.keys.release();
      this.#leases.release();
      await connection.flush();
    }
    connection.close();
    subscriber.disconnect();
  }

  get #channel(): string {
    return `${this.#parts.options.prefix}notifications`;
  }

  #publish(notification: HubNotification): void {
    const { connection } = this.#parts;
    // Without the store, only this hub can be notified.
    if (connection.isLost) return this.#received.emit(notification);
    connection.write(connection.command("PUBLISH", this.#channel, stringifyExact(notification)));
  }

  /** Stores everything again that this hub holds, because the store may have lost its data. */
  #restore(): void {
    const { connection, options, secret } = this.#parts;
    connection.write(shareSecret(connection, options.prefix, secret));
    this.renew();
    this.sessions.keys.restore();
    this.parked.keys.restore();
  }
}

/** Returns the notification, or `undefined` if another program or a newer hub sent something else. */
function parseNotification(text: string): HubNotification | undefined {
  try {
    const value = parseExact(text) as Partial<HubNotification> | null;
    return value?.type === "end-session" && typeof value.session === "string"
      ? { type: value.type, session: value.session }
      : undefined;
  } catch {
    return undefined;
  }
}
