import { randomBytes } from "node:crypto";
import { otherKeyError } from "../../../core/shared-key.ts";
import type { AuthText, StampedText } from "../../ports/auth-state.ts";
import { StoreLostError } from "../../ports/store.ts";
import { defineScript } from "../../ports/shared-queues.ts";
import type { RedisAuthParts } from "./redis-auth-records.ts";
import { DURABLE_MS } from "./store-commands.ts";

/** Maximum number of attempts to replace a text that other hubs replace at the same time. */
const MAX_ATTEMPTS = 50;

/** Arguments: known stamp. Returns 1 if the text has this stamp, nothing without a text, otherwise stamp and text. */
const READ = defineScript(`
local stamp = redis.call('HGET', KEYS[1], 's')
if not stamp then return false end
if stamp == ARGV[1] then return 1 end
return {stamp, redis.call('HGET', KEYS[1], 'v')}
`);

/** Arguments: expected stamp or an empty text, new stamp, text, TTL. Returns 0 if the text has another stamp. */
const REPLACE = defineScript(`
if (redis.call('HGET', KEYS[1], 's') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 's', ARGV[2], 'v', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`);

/** Encrypted text in Redis. */
export class RedisAuthText implements AuthText {
  readonly name: string;
  readonly key: string;
  readonly #parts: RedisAuthParts;

  constructor(parts: RedisAuthParts, name: string) {
    this.#parts = parts;
    this.name = `\`${name}\` in the store`;
    this.key = `${parts.prefix}text:{${name}}`;
  }

  async read(known = ""): Promise<StampedText | "same" | undefined> {
    const { commands, values } = this.#parts;
    const found = await commands.run(READ, this.key, known);
    if (found === 1) return "same";
    if (!Array.isArray(found)) return undefined;
    const [stamp, sealed] = found as readonly string[];
    const text = values.open(sealed, this.key);
    // A text that cannot be decrypted must not be replaced by a new one.
    if (text === undefined) throw new StoreLostError({ cause: otherKeyError("sign-in state") });
    return { stamp: stamp!, text };
  }

  async change<T>(
    change: (text: string | undefined) => Promise<{ readonly text: string; readonly result: T }>,
  ): Promise<T> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const before = (await this.read()) as StampedText | undefined;
      const { text, result } = await change(before?.text);
      if (text === before?.text || (await this.#replace(before?.stamp ?? "", text))) return result;
    }
    throw new StoreLostError({ cause: new Error(`${this.name} is replaced too often.`) });
  }

  async #replace(stamp: string, text: string): Promise<boolean> {
    const { commands, values, bindKey } = this.#parts;
    await bindKey();
    const fresh = randomBytes(8).toString("hex");
    return (await commands.run(REPLACE, this.key, stamp, fresh, values.seal(text, this.key), DURABLE_MS)) === 1;
  }
}
