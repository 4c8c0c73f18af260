import type { JsonObject } from "../../core/json/json.ts";
import { startWithin, type Tracing } from "../../core/ports/tracing.ts";
import { LimitTable, MemoryLimitStore } from "../memory/limit-table.ts";
import { createMember } from "../memory/membership.ts";
import type { Admission, LimitBounds, LimitStore } from "../ports/limit-store.ts";
import { defineScript } from "../ports/shared-queues.ts";
import type { RedisConnection } from "./connection.ts";
import { HUB_LEASE_MS } from "./leases.ts";
import type { RedisStoreOptions } from "./options.ts";

/** Message for the log if the store cannot count a call, for example because the user of Redis may not run scripts. */
const NOT_COUNTED = "The shared store refused to count calls, so their limits hold for each hub alone or refuse calls.";
/** Milliseconds after which the record of an idle client expires. A bucket is full again after a minute. */
const KEY_TTL_MS = 120_000;
/** Milliseconds after which a client with too many running calls may try again. */
const IN_FLIGHT_RETRY_MS = 1000;

/**
 * Number of blocks of a limit. A hub reserves one block in advance, so calls below a large limit need no access to the
 * store, and unused reservations are small. A limit below this number is counted call by call.
 */
const BLOCKS_PER_LIMIT = 64;

/**
 * One hash per client: `t` tokens, `f` time of the last filling, and per hub `<seats>:<end of the lease>`. Arguments:
 * now, hub, end of its lease, perMinute, inFlight, TTL, wanted seats, wanted tokens. Returns the granted seats and
 * tokens; or -1 and 0 if too many calls run; or -2 and the milliseconds until the next token.
 */
const ADMIT = defineScript(`
local now, hub, rate, most = tonumber(ARGV[1]), 'h' .. ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local seats, wanted = tonumber(ARGV[7]), tonumber(ARGV[8])
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
if seats > 0 and most > 0 then
  if running >= most then return {-1, 0} end
  seats = math.min(seats, most - running)
end
local granted = 0
if rate > 0 and wanted > 0 then
  tokens = math.min(rate, tokens + math.max(0, now - filled) * rate / 60000)
  local wait = 0
  if tokens < 1 then wait = math.ceil((1 - tokens) * 60000 / rate)
  else
    granted = math.min(wanted, math.floor(tokens))
    tokens = tokens - granted
  end
  redis.call('HSET', KEYS[1], 't', tostring(tokens), 'f', ARGV[1])
  if wait > 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[6])
    return {-2, wait}
  end
end
redis.call('HSET', KEYS[1], hub, (own + seats) .. ':' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return {seats, granted}
`);

/**
 * Arguments: hub, number of seats that are given back. Has no effect if the hub's count was removed because its lease
 * had expired.
 */
const LEAVE = defineScript(`
local name = 'h' .. ARGV[1]
local value = redis.call('HGET', KEYS[1], name)
if not value then return 0 end
local count, lease = string.match(value, '^(%d+):(%d+)$')
local left = tonumber(count) - tonumber(ARGV[2])
if left > 0 then redis.call('HSET', KEYS[1], name, left .. ':' .. lease) else redis.call('HDEL', KEYS[1], name) end
return 1
`);

/** Arguments: hub, seats, end of the lease, TTL. Also restores the count after the store lost its data. */
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

/** Calls of one client on this hub, and what this hub has reserved for it in the store. */
interface LimitShare {
  running: number;
  /** Number of running calls that only this hub counts, because they were admitted while the store was lost. */
  runningLocally: number;
  /** Concurrent calls that are reserved. */
  seats: number;
  /** Seats that were requested and not yet granted. */
  pendingSeats: number;
  /** Tokens of the rate that are reserved. */
  tokens: number;
  /** Number of seats in one reservation. With 1, a seat is released when its call ends. */
  seatBlock: number;
  usedAt: number;
}

/** Milliseconds after which the reservations of an idle client are released. */
const IDLE_MS = 10_000;

/**
 * Limits that all hubs count together, with one script per admission. A hub reserves a block of a large limit,
 * so most calls need no access to the store. While the store is lost, this hub counts its own calls or refuses them.
 * Calls without limits, and calls that only this hub receives, do not access the store.
 */
export class RedisLimitStore implements LimitStore {
  readonly #parts: RedisLimitParts;
  readonly #shares = new Map<string, LimitShare>();
  /** Calls of keys that only this hub counts. */
  readonly #own: MemoryLimitStore;
  /** Keys that only this hub counts, with their number of running calls. */
  readonly #ownRunning = new Map<string, number>();
  readonly #local: MemoryLimitStore;
  /** Absent: admissions are not recorded. */
  tracing: Tracing | undefined;

  constructor(parts: RedisLimitParts) {
    this.#parts = parts;
    this.#own = new MemoryLimitStore(new LimitTable(), createMember(parts.hub));
    this.#local = new MemoryLimitStore(new LimitTable(), createMember(parts.hub));
  }

  admit(key: string, bounds: LimitBounds, meta?: JsonObject): Admission | Promise<Admission> {
    const { perMinute, inFlight } = bounds;
    if (perMinute <= 0 && inFlight <= 0) return ADMITTED;
    const { connection } = this.#parts;
    if (connection.isLost && this.#parts.options.onLoss === "refuse") return STORE_LOST;
    if (bounds.isOwn) return this.#admitOwn(key, bounds);
    if (connection.isLost) return this.#admitLocally(key, bounds);
    const share = this.#shareOf(key, bounds);
    const needsSeat = inFlight > 0 && share.running >= share.seats;
    const needsToken = perMinute > 0 && share.tokens < 1;
    if (!needsSeat && !needsToken) return take(share, bounds);
    const span = startWithin(this.tracing, { name: "EVALSHA", kind: "client" }, meta);
    const admission = this.#admit(key, bounds, { share, needsSeat, needsToken });
    if (!span) return admission;
    span.set("storeSystem", "redis");
    span.set("storeOperation", "EVALSHA");
    return admission.finally(() => span.end());
  }

  leave(key: string): void {
    const own = this.#ownRunning.get(key);
    if (own !== undefined) return this.#leaveOwn(key, own);
    const share = this.#shares.get(key);
    if (!share || share.running === 0) return;
    share.running -= 1;
    if (share.runningLocally > 0) {
      share.runningLocally -= 1;
      this.#local.leave(key);
    }
    if (share.seatBlock === 1 && share.seats > share.running) this.#giveBack(key, share, share.running);
  }

  /** Counts the running calls in the store again, also those that were admitted while it was lost. */
  restore(): void {
    for (const [key, share] of this.#shares) {
      for (; share.runningLocally > 0; share.runningLocally -= 1) this.#local.leave(key);
      share.seats = Math.max(share.seats, share.running);
    }
    this.renew();
  }

  /** Renews the reservations, and gives back those that are not used. */
  renew(): void {
    const { hub, connection } = this.#parts;
    const lease = connection.now + HUB_LEASE_MS;
    const now = performance.now();
    for (const [key, share] of this.#shares) {
      const isIdle = share.running === 0 && now - share.usedAt > IDLE_MS;
      const kept = isIdle ? 0 : Math.min(share.seats, share.running + share.seatBlock);
      if (kept < share.seats) this.#giveBack(key, share, kept);
      if (isIdle && share.pendingSeats === 0) this.#shares.delete(key);
      const seats = share.seats + share.pendingSeats;
      if (seats > 0) void connection.write(connection.run(RENEW, this.#keyOf(key), hub, seats, lease, KEY_TTL_MS));
    }
  }

  /** Gives back all reservations of this hub. */
  release(): void {
    for (const [key, share] of this.#shares) this.#giveBack(key, share, 0);
    this.#shares.clear();
  }

  async #admit(
    key: string,
    bounds: LimitBounds,
    {
      share,
      needsSeat,
      needsToken,
    }: { readonly share: LimitShare; readonly needsSeat: boolean; readonly needsToken: boolean },
  ): Promise<Admission> {
    const { hub, connection } = this.#parts;
    const { perMinute, inFlight } = bounds;
    const now = connection.now;
    const seats = needsSeat ? share.seatBlock : 0;
    const tokens = needsToken ? blockOf(perMinute) : 0;
    // The seats are counted before the answer arrives, so that a renewal at that time includes them.
    share.pendingSeats += seats;
    try {
      const parts = [now, hub, now + HUB_LEASE_MS, perMinute, inFlight, KEY_TTL_MS, seats, tokens];
      const answer = await connection.run(ADMIT, this.#keyOf(key), ...parts);
      const [granted, grantedTokens] = answer as [number, number];
      share.pendingSeats -= seats;
      if (granted === -1) return { admitted: false, reason: "in-flight", retryAfterMs: IN_FLIGHT_RETRY_MS };
      if (granted === -2) return { admitted: false, reason: "rate", retryAfterMs: grantedTokens };
      share.seats += granted;
      share.tokens += grantedTokens;
      return take(share, bounds);
    } catch (error) {
      share.pendingSeats -= seats;
      connection.refused(error, NOT_COUNTED);
      return this.#parts.options.onLoss === "refuse" ? STORE_LOST : this.#admitLocally(key, bounds);
    }
  }

  #admitOwn(key: string, bounds: LimitBounds): Admission {
    const admission = this.#own.admit(key, bounds);
    if (admission.admitted) this.#ownRunning.set(key, (this.#ownRunning.get(key) ?? 0) + 1);
    return admission;
  }

  #leaveOwn(key: string, running: number): void {
    this.#own.leave(key);
    if (running > 1) this.#ownRunning.set(key, running - 1);
    else this.#ownRunning.delete(key);
  }

  #admitLocally(key: string, bounds: LimitBounds): Admission {
    const admission = this.#local.admit(key, bounds);
    if (!admission.admitted) return admission;
    const share = this.#shareOf(key, bounds);
    share.runningLocally += 1;
    share.running += 1;
    share.usedAt = performance.now();
    return admission;
  }

  #giveBack(key: string, share: LimitShare, kept: number): void {
    const { hub, connection } = this.#parts;
    const unused = share.seats - kept;
    share.seats = kept;
    if (unused > 0 && !connection.isLost) void connection.write(connection.run(LEAVE, this.#keyOf(key), hub, unused));
  }

  #shareOf(key: string, { inFlight }: LimitBounds): LimitShare {
    let share = this.#shares.get(key);
    if (!share) {
      share = { running: 0, runningLocally: 0, seats: 0, pendingSeats: 0, tokens: 0, seatBlock: 1, usedAt: 0 };
      this.#shares.set(key, share);
    }
    share.seatBlock = blockOf(inFlight);
    return share;
  }

  #keyOf(key: string): string {
    return `${this.#parts.options.prefix}limit:{${key}}`;
  }
}

/** Returns the size of one reservation. */
function blockOf(limit: number): number {
  return Math.max(1, Math.floor(limit / BLOCKS_PER_LIMIT));
}

/** Begins a call for which this hub has reserved a seat and a token. */
function take(share: LimitShare, { perMinute }: LimitBounds): Admission {
  share.running += 1;
  share.usedAt = performance.now();
  if (perMinute > 0) share.tokens -= 1;
  return ADMITTED;
}

const ADMITTED: Admission = Object.freeze({ admitted: true });
const STORE_LOST: Admission = Object.freeze({
  admitted: false,
  reason: "store",
  retryAfterMs: IN_FLIGHT_RETRY_MS,
});
