import type { AttemptLimit, AuthAttempts, AuthPolls, PollRule } from "../../ports/auth-state.ts";
import { defineScript } from "../../ports/shared-queues.ts";
import type { RedisAuthParts } from "./redis-auth-records.ts";

/** Arguments: burst, interval, time, TTL. Returns the milliseconds to wait, or 0 for an allowed attempt. */
const TAKE = defineScript(`
local burst, every, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local known = redis.call('HMGET', KEYS[1], 'l', 't')
local left = burst
if known[1] then left = math.min(burst, tonumber(known[1]) + math.max(0, now - tonumber(known[2])) / every) end
if left < 1 then return math.ceil((1 - left) * every) end
redis.call('HSET', KEYS[1], 'l', tostring(left - 1), 't', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 0
`);

/** Arguments: burst. Allows one more attempt. */
const GIVE_BACK = defineScript(`
local left = redis.call('HGET', KEYS[1], 'l')
if not left then return 0 end
redis.call('HSET', KEYS[1], 'l', tostring(math.min(tonumber(ARGV[1]), tonumber(left) + 1)))
return 1
`);

/**
 * Arguments: time, shortest interval, added time, longest interval, tolerance, TTL. Returns 1 for a request too soon.
 */
const POLL = defineScript(`
local now, least, longer, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local known = redis.call('HMGET', KEYS[1], 't', 'i')
local interval = known[2] and tonumber(known[2]) or least
local soon = known[1] and now - tonumber(known[1]) < interval - tonumber(ARGV[5])
if soon then interval = math.min(interval + longer, most) end
redis.call('HSET', KEYS[1], 't', ARGV[1], 'i', tostring(interval))
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return soon and 1 or 0
`);

/** Milliseconds for which the requests for a device code are remembered, which is longer than the code is valid. */
const POLLED_MS = 15 * 60_000;

/** Limits attempts on all hubs of a store. */
export class RedisAttempts implements AuthAttempts {
  readonly #parts: RedisAuthParts;
  readonly #name: string;
  readonly #limit: AttemptLimit;

  constructor(parts: RedisAuthParts, name: string, limit: AttemptLimit) {
    this.#parts = parts;
    this.#name = name;
    this.#limit = limit;
  }

  async take(key: string): Promise<number> {
    const { commands } = this.#parts;
    const { burst, everyMs } = this.#limit;
    return (await commands.run(TAKE, this.#keyOf(key), burst, everyMs, commands.now, burst * everyMs)) as number;
  }

  async giveBack(key: string): Promise<void> {
    await this.#parts.commands.run(GIVE_BACK, this.#keyOf(key), this.#limit.burst);
  }

  async clear(key: string): Promise<void> {
    await this.#parts.commands.command("DEL", this.#keyOf(key));
  }

  /** Returns the key in the store. It hides `key`, which is the name or the address of a user. */
  #keyOf(key: string): string {
    return `${this.#parts.prefix}attempts:{${this.#name}:${this.#parts.values.nameOf(key)}}`;
  }
}

/** Requests for pending device codes on all hubs of a store. */
export class RedisPolls implements AuthPolls {
  readonly #parts: RedisAuthParts;
  readonly #rule: PollRule;

  constructor(parts: RedisAuthParts, rule: PollRule) {
    this.#parts = parts;
    this.#rule = rule;
  }

  async isTooSoon(deviceCode: string): Promise<boolean> {
    const { commands, values, prefix } = this.#parts;
    const { intervalMs, longerMs, maxMs, toleranceMs } = this.#rule;
    const key = `${prefix}poll:{${values.nameOf(deviceCode)}}`;
    const times = [commands.now, intervalMs, longerMs, maxMs, toleranceMs, POLLED_MS];
    return (await commands.run(POLL, key, ...times)) === 1;
  }
}
