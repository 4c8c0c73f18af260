import { createHash } from "node:crypto";
import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import { isJsonObject } from "../../../core/json/json.ts";
import type { SharedQueues, SharedScript } from "../../../state/ports/shared-queues.ts";
import type { StoredTask, TaskFacts } from "../stored-task.ts";
import type { TaskRecord } from "../task-journal.ts";

/** Task in the store. */
export interface SharedRecord {
  /** Hub that runs the call. `NO_HUB` if it was interrupted and may be continued, `ENDED` if it has ended. */
  readonly hub: string;
  readonly record: TaskRecord;
}

export const NO_HUB = "";
export const ENDED = "-";

/** Milliseconds for which an unfinished task outlives its `ttl`. Its hub stores it again before. */
const UNFINISHED_MS = 24 * 3_600_000;
/** Maximum number of tasks of one owner that a list contains. */
const MAX_LISTED = 1000;

/** Stores a task if the hub in ARGV[1] still has it. Otherwise another hub has ended or continued it. */
const STORE = script(`
local held = redis.call('HGET', KEYS[1], 'hub')
if held and held ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'hub', ARGV[2], 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`);

/** Gives an interrupted task to the hub in ARGV[1]. Only one hub gets it. */
const CLAIM = script(`
if redis.call('HGET', KEYS[1], 'hub') ~= '' then return 0 end
redis.call('HSET', KEYS[1], 'hub', ARGV[1])
return 1`);

function script(text: string): SharedScript {
  return { text, digest: createHash("sha1").update(text).digest("hex") };
}

/** Tasks of all hubs of a store. */
export class TaskRecords {
  readonly #queues: SharedQueues;

  constructor(queues: SharedQueues) {
    this.#queues = queues;
  }

  /** Stores a task of the hub `from`, which then belongs to `to`. Resolves to false if it belongs to another hub. */
  async store(task: StoredTask, from: string, to: string): Promise<boolean> {
    const { id, owner, createdAt, ttlMs } = task.facts;
    const lifeMs = Math.max(1, Math.ceil(task.isFinal ? task.expiresAt - Date.now() : ttlMs + UNFINISHED_MS));
    const text = stringifyExact(task.record());
    if ((await this.#queues.run(STORE, this.#keyOf(id), from, to, text, lifeMs)) !== 1) return false;
    await Promise.all([this.#index({ owner, createdAt, id }, lifeMs), this.#place(id, { from, to }, lifeMs)]);
    return true;
  }

  async claim(id: string): Promise<boolean> {
    const { hub } = this.#queues;
    if ((await this.#queues.run(CLAIM, this.#keyOf(id), hub)) !== 1) return false;
    await this.#place(id, { from: NO_HUB, to: hub }, UNFINISHED_MS);
    return true;
  }

  async load(id: string): Promise<SharedRecord | undefined> {
    const [hub, text] = (await this.#queues.command("HMGET", this.#keyOf(id), "hub", "record")) as (string | null)[];
    const record: unknown = typeof text === "string" ? parseExact(text) : undefined;
    return typeof hub === "string" && isJsonObject(record) ? { hub, record: record as TaskRecord } : undefined;
  }

  /** Returns the tasks of an owner, the newest first. */
  async loadOf(owner: string): Promise<readonly SharedRecord[]> {
    const ids = await this.#members("ZREVRANGE", this.#ownerKey(owner), 0, MAX_LISTED - 1);
    const records = await Promise.all(ids.map((id) => this.load(id)));
    const gone = ids.filter((_, at) => !records[at]);
    if (gone.length > 0) await this.#queues.command("ZREM", this.#ownerKey(owner), ...gone);
    return records.filter((record) => record !== undefined);
  }

  /** Returns the ids of the unfinished tasks of a hub. */
  idsAt(hub: string): Promise<readonly string[]> {
    return this.#members("SMEMBERS", this.#hubKey(hub));
  }

  async remove(id: string): Promise<void> {
    await this.#queues.command("DEL", this.#keyOf(id));
  }

  async #index({ owner, createdAt, id }: Pick<TaskFacts, "owner" | "createdAt" | "id">, lifeMs: number): Promise<void> {
    const key = this.#ownerKey(owner);
    await this.#queues.command("ZADD", key, Date.parse(createdAt), id);
    // The list lives as long as its longest task.
    const left = Number(await this.#queues.command("PTTL", key));
    if (left < lifeMs) await this.#queues.command("PEXPIRE", key, lifeMs);
  }

  /** Moves a task between the lists of unfinished tasks by hub. */
  async #place(
    id: string,
    { from, to }: { readonly from: string; readonly to: string },
    lifeMs: number,
  ): Promise<void> {
    if (to !== NO_HUB && to !== ENDED) {
      await this.#queues.command("SADD", this.#hubKey(to), id);
      await this.#queues.command("PEXPIRE", this.#hubKey(to), lifeMs);
    }
    if (from !== to && from !== NO_HUB) await this.#queues.command("SREM", this.#hubKey(from), id);
  }

  async #members(command: string, key: string, ...parts: number[]): Promise<readonly string[]> {
    return (await this.#queues.command(command, key, ...parts)) as string[];
  }

  #keyOf(id: string): string {
    return `${this.#queues.prefix}task:{${id}}`;
  }

  #ownerKey(owner: string): string {
    return `${this.#queues.prefix}tasks-of:{${createHash("sha256").update(owner).digest("base64url")}}`;
  }

  #hubKey(hub: string): string {
    return `${this.#queues.prefix}tasks-at:{${hub}}`;
  }
}
