import type { Peers } from "../../../state/ports/peers.ts";
import { defineScript, type SharedQueues } from "../../../state/ports/shared-queues.ts";
import type { HubRow } from "../api-types.ts";

/** Milliseconds for which a hub is listed after its last renewal. */
const LISTED_MS = 60_000;
const RENEW_MS = LISTED_MS / 3;
/** Maximum number of hubs that are listed. */
const MAX_HUBS = 1000;

/** Arguments: id of a hub or an empty text, time in ms, maximum number. Lists the hub, and returns the listed ids. */
const LIST = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if ARGV[1] ~= '' then redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANGE', KEYS[1], 0, ARGV[3] - 1)`);

/** The hubs of a store that serve the console. */
export class ConsoleHubs {
  readonly #queues: SharedQueues;
  readonly #peers: Pick<Peers, "find">;
  #timer: NodeJS.Timeout | undefined;

  constructor(queues: SharedQueues, peers: Pick<Peers, "find">) {
    this.#queues = queues;
    this.#peers = peers;
  }

  /** Id of this hub. */
  get own(): string {
    return this.#queues.hub;
  }

  /** Lists this hub for the others, until `leave` is called. */
  join(): void {
    const renew = (): void => void this.#run(this.own).catch(() => {});
    this.#timer = setInterval(renew, RENEW_MS).unref();
    renew();
  }

  leave(): void {
    clearInterval(this.#timer);
    void this.#queues.command("ZREM", this.#key, this.own).catch(() => {});
  }

  /** Returns the hubs that are alive, this hub first. Without the store, returns this hub only. */
  async list(): Promise<readonly HubRow[]> {
    const ids = await this.#run(this.own).catch(() => [this.own]);
    const own = await this.#peers.find(this.own);
    const rows = await Promise.all(
      ids.map(async (id): Promise<HubRow | undefined> => {
        const facts = await Promise.resolve(this.#peers.find(id)).catch(() => undefined);
        if (!facts) return undefined;
        const { url, configuration } = facts;
        return { id, ...(url !== undefined && { url }), isDifferent: configuration !== own?.configuration };
      }),
    );
    const known = rows.filter((row) => row !== undefined);
    return known.toSorted((one, other) => Number(other.id === this.own) - Number(one.id === this.own));
  }

  async #run(id: string): Promise<readonly string[]> {
    const found = await this.#queues.run(LIST, this.#key, id, LISTED_MS, MAX_HUBS);
    return Array.isArray(found) ? found.map(String) : [];
  }

  get #key(): string {
    return `${this.#queues.prefix}{console:hubs}`;
  }
}
