import { randomBytes } from "node:crypto";
import { defineScript, type SharedScript, type StoreLease } from "../ports/shared-queues.ts";

interface LeaseCommands {
  command(name: string, ...parts: (string | number)[]): Promise<unknown>;
  run(script: SharedScript, key: string, ...parts: (string | number)[]): Promise<unknown>;
}

export interface LeasePlace {
  readonly key: string;
  /** Milliseconds after which the lease of a killed hub ends. */
  readonly lifeMs: number;
}

/** Renewals of a lease in its lifetime. One of them may be late. */
const RENEWALS = 3;

/** Arguments: token, TTL. */
const RENEW = defineScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** Arguments: token. */
const RELEASE = defineScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

/**
 * Takes the lease of a key, and renews it until it is released. Resolves to `undefined` if another user has it. Only
 * its owner renews and releases a lease, so a lease that has expired is not taken from the next owner.
 */
export async function takeLease(commands: LeaseCommands, { key, lifeMs }: LeasePlace): Promise<StoreLease | undefined> {
  const token = randomBytes(12).toString("hex");
  if ((await commands.command("SET", key, token, "NX", "PX", lifeMs)) === null) return undefined;
  const timer = setInterval(() => void commands.run(RENEW, key, token, lifeMs).catch(() => {}), lifeMs / RENEWALS);
  timer.unref();
  return {
    release: async () => {
      clearInterval(timer);
      // If the store is lost, the lease ends by itself.
      await commands.run(RELEASE, key, token).catch(() => {});
    },
  };
}
