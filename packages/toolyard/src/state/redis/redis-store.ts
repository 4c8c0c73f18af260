import { FailError, messageOf } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { keyIn } from "../../core/shared-key.ts";
import { Emitter } from "../../core/events.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { SILENT_LOGGER, type Logger } from "../../core/ports/ports.ts";
import type { Tracing } from "../../core/ports/tracing.ts";
import type { AuthState } from "../ports/auth-state.ts";
import type { EventLog, EventLogLimits } from "../ports/event-log.ts";
import type { HubNotification, HubNotifications } from "../ports/hub-notifications.ts";
import type { HubState, StoreServices } from "../ports/store.ts";
import type { DurableKeys } from "./auth/redis-auth-state.ts";
import { createClient, duplicateClient, type RedisClient, type RedisLibrary } from "./client.ts";
import { RedisConnection } from "./connection.ts";
import { RedisEventLog } from "./event-log.ts";
import { RedisParkedDirectory, RedisSessionRecords } from "./held-records.ts";
import { HUB_LEASE_MS, HubLeases } from "./leases.ts";
import { RedisLimitStore } from "./limit-store.ts";
import { parseNotification } from "./notifications.ts";
import { RedisOneTimeIds } from "./one-time-ids.ts";
import type { RedisStoreOptions } from "./options.ts";
import { SharedSecret } from "./shared-secret.ts";
import { createSharedQueues } from "./shared-queues.ts";
import type { SharedQueues } from "../ports/shared-queues.ts";
import type { SharedVault } from "../ports/shared-vault.ts";
import { RedisPeers } from "./peers.ts";

/** Milliseconds between two readings of the store's clock. */
const REFRESH_MS = 60_000;

interface JoinServices extends StoreServices {
  readonly hub: string;
}

/** Connects a hub to the store. Rejects if the store cannot be reached or the extra `redis` is not installed. */
export async function joinRedisStore(
  options: RedisStoreOptions,
  { hub, importRedis, variables = {}, logger = SILENT_LOGGER }: JoinServices,
): Promise<HubState> {
  const key = keyIn(variables);
  const client = createClient((await importRedis()) as RedisLibrary, options);
  const subscriber = duplicateClient(client);
  const connection = new RedisConnection(client, logger);
  // `connection` reports a lost store for both clients, because both lose it at the same time. The error is stored,
  // because while connecting, either client may fail first.
  subscriber.on("error", (error: Error) => (connection.lastError ??= error));
  try {
    await Promise.all([client.connect(), subscriber.connect()]);
    await connection.readClock();
    const secret = await SharedSecret.open({ connection, prefix: options.prefix, key });
    const state = new RedisHubState({ hub, connection, options, secret, subscriber });
    await state.listen();
    return state;
  } catch (error) {
    connection.close();
    subscriber.disconnect();
    throw unreachable(connection.lastError ?? error);
  }
}

function unreachable(error: unknown): FailError {
  const message = `The shared store of \`[store]\` cannot be used: ${messageOf(error)}`;
  return new FailError(fail("unavailable", message, { cause: error }));
}

interface RedisHubParts {
  readonly hub: string;
  readonly connection: RedisConnection;
  readonly options: RedisStoreOptions;
  readonly secret: SharedSecret;
  readonly subscriber: RedisClient;
}

class RedisHubState implements HubState {
  readonly hub: string;
  readonly leaseMs = HUB_LEASE_MS;
  readonly refusesOnLoss: boolean;
  readonly drainMs: number;
  readonly limits: RedisLimitStore;
  readonly sessions: RedisSessionRecords;
  readonly parked: RedisParkedDirectory;
  readonly notifications: HubNotifications;
  readonly queues: SharedQueues;
  readonly peers: RedisPeers;
  readonly oneTimeIds: RedisOneTimeIds;
  readonly #parts: RedisHubParts;
  readonly #leases: HubLeases;
  readonly #received = new Emitter<HubNotification>();
  readonly #durable: DurableKeys[] = [];
  #vault: Promise<SharedVault> | undefined;
  /** Time of the last reading of the clock, on the clock of `performance.now()`. */
  #refreshedAt = performance.now();

  constructor(parts: RedisHubParts) {
    const { hub, connection, options } = parts;
    const { prefix } = options;
    this.#parts = parts;
    this.hub = hub;
    this.refusesOnLoss = options.onLoss === "refuse";
    this.drainMs = options.drainMs;
    this.limits = new RedisLimitStore({ hub, connection, options });
    this.#leases = new HubLeases({ hub, connection, prefix });
    this.sessions = new RedisSessionRecords({ hub, connection, prefix: `${prefix}session:`, leases: this.#leases });
    this.parked = new RedisParkedDirectory({ hub, connection, prefix: `${prefix}parked:`, leases: this.#leases });
    this.peers = new RedisPeers({
      connection,
      leases: this.#leases,
      channelOf: (to) => `${prefix}to:${to}`,
      countsListeners: options.mode !== "cluster",
    });
    this.oneTimeIds = new RedisOneTimeIds(connection, `${prefix}once:`, this.refusesOnLoss);
    if (options.advertise !== undefined) this.#leases.announce({ url: options.advertise });
    this.queues = createSharedQueues({ hub, prefix, connection, leases: this.#leases, client: parts.subscriber });
    this.notifications = {
      publish: (notification) => this.#publish(notification),
      on: (listener) => this.#received.on(listener),
    };
    connection.restored.on(() => this.#restore());
    connection.restored.on(() => this.peers.interrupted.emit());
  }

  /** Starts to receive notifications. The client subscribes again by itself after it has reconnected. */
  async listen(): Promise<void> {
    const { subscriber } = this.#parts;
    const notifications = this.#channel;
    subscriber.on("messageBuffer", (channel: Buffer, message: Buffer) => {
      if (channel.toString() !== notifications) return this.peers.received.emit(message);
      const notification = parseNotification(message.toString());
      if (notification) this.#received.emit(notification);
    });
    // One command for each channel: in a cluster, they may belong to different slots.
    await subscriber.subscribe(notifications);
    await subscriber.subscribe(`${this.#parts.options.prefix}to:${this.hub}`);
    subscriber.on("ready", () => this.peers.interrupted.emit());
    this.renew();
  }

  get secret(): Uint8Array {
    return this.#parts.secret.value;
  }

  get now(): number {
    return this.#parts.connection.now;
  }

  get isLost(): boolean {
    return this.#parts.connection.isLost;
  }

  reportTo(logger: Pick<Logger, "info" | "warning">): void {
    this.#parts.connection.reportTo(logger);
  }

  traceWith(tracing: Tracing): void {
    this.limits.tracing = tracing;
  }

  async openAuthState(key: Uint8Array): Promise<AuthState> {
    const { openParts, RedisAuthState } = await import("./auth/redis-auth-state.ts");
    const { connection, options } = this.#parts;
    const state = new RedisAuthState(await openParts({ connection, prefix: options.prefix, key, purpose: "sign-in" }));
    this.#keep(state.durable);
    return state;
  }

  openVault(key: Uint8Array): Promise<SharedVault> {
    this.#vault ??= this.#openVault(key).catch((error: unknown) => {
      this.#vault = undefined;
      throw error;
    });
    return this.#vault;
  }

  async #openVault(key: Uint8Array): Promise<SharedVault> {
    const [{ openParts, DurableKeys }, { RedisVault }] = await Promise.all([
      import("./auth/redis-auth-state.ts"),
      import("./auth/redis-vault.ts"),
    ]);
    const { connection, options } = this.#parts;
    const parts = await openParts({ connection, prefix: options.prefix, key, purpose: "vault" });
    const onInterrupted = (listener: () => void): void => void this.peers.onInterrupted(listener);
    const vault = await new RedisVault({ ...parts, notifications: this.notifications, onInterrupted }).open();
    this.#keep(new DurableKeys(parts, vault.durable));
    return vault;
  }

  #keep(keys: DurableKeys): void {
    keys.renew();
    this.#durable.push(keys);
  }

  openEventLog(limits: EventLogLimits): EventLog {
    const { connection, options } = this.#parts;
    return new RedisEventLog(limits, { connection, prefix: `${options.prefix}events:` });
  }

  renew(): void {
    if (this.#parts.connection.isLost) return;
    this.#refresh();
    this.#leases.renew();
    this.limits.renew();
    for (const keys of this.#durable) keys.renew();
    this.sessions.keys.renew();
    this.parked.keys.renew();
  }

  /** Reads the clock again, since clocks are adjusted, and keeps the secret for as long as a hub runs. */
  #refresh(): void {
    const now = performance.now();
    if (now - this.#refreshedAt < REFRESH_MS) return;
    this.#refreshedAt = now;
    const { connection, secret } = this.#parts;
    void connection.write(connection.readClock());
    void connection.write(secret.renew());
  }

  flush(): Promise<void> {
    return this.#parts.connection.flush();
  }

  async leave(): Promise<void> {
    const { connection, subscriber } = this.#parts;
    if (!connection.isLost) {
      this.limits.release();
      for (const id of this.sessions.keys.ids) this.sessions.release(id);
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
    void connection.write(connection.command("PUBLISH", this.#channel, stringifyExact(notification)));
  }

  /** Stores everything again that this hub holds, because the store may have lost its data. */
  #restore(): void {
    const { connection, secret } = this.#parts;
    void connection.write(secret.restore());
    this.renew();
    this.limits.restore();
    this.sessions.keys.restore();
    this.parked.keys.restore();
  }
}
