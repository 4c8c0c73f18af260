import type { JsonObject } from "../../core/json/json.ts";
import { startWithin, type Tracing } from "../../core/ports/tracing.ts";
import { LimitTable, MemoryLimitStore } from "../memory/limit-table.ts";
import { createMember } from "../memory/membership.ts";
import type { Admission, LimitBounds, LimitStore } from "../ports/limit-store.ts";
import { defineScript, type RedisConnection } from "./connection.ts";
import { HUB_LEASE_MS } from "./leases.ts";
import type { RedisStoreOptions } from "./options.ts";

/** Milliseconds after which the record of an idle client expires. A bucket is full again after a minute. */
const KEY_TTL_MS = 120_000;
/** Milliseconds after which a client with too many running calls may try again. */
const IN_FLIGHT_RETRY_MS = 1000;

/**
 * One hash per client: `t` tokens, `f` time of the last filling, and per hub `<running>:<end of the lease>`. Arguments:
 * now, hub, end of its lease, perMinute, inFlight, TTL. Returns 0 if admitted, -1 if too many calls run, otherwise the
 * milliseconds until the next token.
 */
const ADMIT = defineScript(`
local now, hub, rate, most = tonumber(ARGV[1]), 'h' .. ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local tokens, filled, own, running = rate, now, 0, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local name, value = all[i], all[i + 1]
  if name == 't' then tokens = tonumber(value)
  elseif name == 'f' then filled = tonumber(value)
  else
    local count, lease = string.match(value, '^(%d+):(%d+)$')
    if tonumber(lease) <= now then redis.call('HDEL', KEYS[1], name)
    else
      running = running + tonumber(count)
      if name == hub then own = tonumber(count) end
    end
  end
end
if most > 0 and running >= most then return -1 end
if rate > 0 then
  tokens = math.min(rate, tokens + math.max(0, now - filled) * rate / 60000)
  local wait = 0
  if tokens < 1 then wait = math.ceil((1 - tokens) * 60000 / rate) else tokens = tokens - 1 end
  redis.call('HSET', KEYS[1], 't', tostring(tokens), 'f', ARGV[1])
  if wait > 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[6])
    return wait
  end
end
redis.call('HSET', KEYS[1], hub, (own + 1) .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 0
`);

/** Arguments: hub, number of calls that end. A count that has expired is not changed. */
const LEAVE = defineScript(`
local name = 'h' .. ARGV[1]
local value = redis.call('HGET', KEYS[1], name)
if not value then return 0 end
local count, lease = string.match(value, '^(%d+):(%d+)$')
local left = tonumber(count) - tonumber(ARGV[2])
if left > 0 then redis.call('HSET', KEYS[1], name, left .. ':' .. lease) else redis.call('HDEL', KEYS[1], name) end
return 1
`);

/** Arguments: hub, running calls, end of the lease, TTL. Also restores the count after the store lost its data. */
const RENEW = defineScript(`
redis.call('HSET', KEYS[1], 'h' .. ARGV[1], ARGV[2] .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`);

export interface RedisLimitParts {
  readonly hub: string;
  readonly connection: RedisConnection;
  readonly options: Pick<RedisStoreOptions, "prefix" | "onLoss">;
}

/**
 * Limits that all hubs count together, with one script per admission. While the store is lost, this hub counts its own
 * calls or refuses them. Calls without limits do not access the store.
 */
export class RedisLimitStore implements LimitStore {
  readonly #parts: RedisLimitParts;
  /**
   * Calls of this hub that run, also those that were admitted while the store was lost. Limited by the number of
   * running calls.
   */
  readonly #running = new Map<string, number>();
  /** Those of the running calls that were admitted while the store was lost. */
  readonly #locally = new Map<string, number>();
  readonly #local: MemoryLimitStore;
  /** Absent: admissions are not recorded. */
  tracing: Tracing | undefined;

  constructor(parts: RedisLimitParts) {
    this.#parts = parts;
    this.#local = new MemoryLimitStore(new LimitTable(), createMember(parts.hub));
  }

  admit(key: string, bounds: LimitBounds, meta?: JsonObject): Admission | Promise<Admission> {
    if (bounds.perMinute <= 0 && bounds.inFlight <= 0) return ADMITTED;
    if (this.#parts.connection.isLost) return this.#withoutStore(key, bounds);
    const span = startWithin(this.tracing, { name: "EVALSHA", kind: "client" }, meta);
    const admission = this.#admit(key, bounds);
    if (!span) return admission;
    span.set("storeSystem", "redis");
    span.set("storeOperation", "EVALSHA");
    return admission.finally(() => span.end());
  }

  leave(key: string): void {
    if (!this.#running.has(key)) return;
    this.#count(key, -1);
    this.#leaveLocally(key);
    const { hub, connection } = this.#parts;
    if (!connection.isLost) void connection.write(connection.run(LEAVE, this.#keyOf(key), hub, 1));
  }

  /** Counts the running calls in the store again, also those that were admitted while it was lost. */
  restore(): void {
    for (const [key, count] of this.#locally) for (let at = 0; at < count; at += 1) this.#local.leave(key);
    this.#locally.clear();
  }

  /** Renews the counts of the running calls. */
  renew(): void {
    const { hub, connection } = this.#parts;
    const lease = connection.now + HUB_LEASE_MS;
    for (const [key, running] of this.#running)
      void connection.write(connection.run(RENEW, this.#keyOf(key), hub, running, lease, KEY_TTL_MS));
  }

  /** Ends all calls of this hub in the store. */
  release(): void {
    const { hub, connection } = this.#parts;
    for (const [key, running] of this.#running)
      void connection.write(connection.run(LEAVE, this.#keyOf(key), hub, running));
    this.#running.clear();
  }

  async #admit(key: string, bounds: LimitBounds): Promise<Admission> {
    const { hub, connection } = this.#parts;
    const { perMinute, inFlight } = bounds;
    const now = connection.now;
    const lease = now + HUB_LEASE_MS;
    // Counted before the answer arrives, so that a renewal at that time includes this call.
    this.#count(key, 1);
    try {
      const parts = [now, hub, lease, perMinute, inFlight, KEY_TTL_MS];
      const waitMs = Number(await connection.run(ADMIT, this.#keyOf(key), ...parts));
      if (waitMs === 0) return ADMITTED;
      this.#count(key, -1);
      return waitMs < 0
        ? { admitted: false, reason: "in-flight", retryAfterMs: IN_FLIGHT_RETRY_MS }
        : { admitted: false, reason: "rate", retryAfterMs: waitMs };
    } catch {
      this.#count(key, -1);
      return this.#withoutStore(key, bounds);
    }
  }

  #withoutStore(key: string, bounds: LimitBounds): Admission {
    if (this.#parts.options.onLoss === "refuse")
      return { admitted: false, reason: "store", retryAfterMs: IN_FLIGHT_RETRY_MS };
    const admission = this.#local.admit(key, bounds);
    if (admission.admitted) {
      this.#count(key, 1);
      this.#locally.set(key, (this.#locally.get(key) ?? 0) + 1);
    }
    return admission;
  }

  #leaveLocally(key: string): void {
    const count = this.#locally.get(key);
    if (count === undefined) return;
    this.#local.leave(key);
    if (count > 1) this.#locally.set(key, count - 1);
    else this.#locally.delete(key);
  }

  #count(key: string, change: number): void {
    const running = (this.#running.get(key) ?? 0) + change;
    if (running > 0) this.#running.set(key, running);
    else this.#running.delete(key);
  }

  #keyOf(key: string): string {
    return `${this.#parts.options.prefix}limit:{${key}}`;
  }
}

const ADMITTED: Admission = Object.freeze({ admitted: true });
