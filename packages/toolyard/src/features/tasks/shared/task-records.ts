import { createHash } from "node:crypto";
import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import { isJsonObject } from "../../../core/json/json.ts";
import { defineScript, type SharedQueues } from "../../../state/ports/shared-queues.ts";
import type { StoredTask, TaskFacts } from "../stored-task.ts";
import type { TaskRecord } from "../task-journal.ts";

/** Task in the store. */
export interface SharedRecord {
  /** Hub that runs the call. `NO_HUB` if it was interrupted and may be continued, `ENDED` if it has ended. */
  readonly hub: string;
  readonly record: TaskRecord;
  /** False if the record has a text in place of its result, because the result is too large for a list. */
  readonly isWhole: boolean;
}

export const NO_HUB = "";
export const ENDED = "-";

/** Milliseconds for which an unfinished task outlives its `ttl`. Its hub stores it again before. */
const UNFINISHED_MS = 24 * 3_600_000;
/** Maximum number of tasks of one owner that a list contains. */
const MAX_LISTED = 1000;
/** Number of tasks of a list that are read concurrently. */
const LIST_BATCH = 100;
/** Maximum size in characters of a result that lists contain. Larger ones are in a separate field of the store. */
const MAX_LISTED_RESULT = 16 * 1024;

/** Stores a task if the hub in ARGV[1] still has it. Otherwise another hub has ended or continued it. */
const STORE = defineScript(`
local held = redis.call('HGET', KEYS[1], 'hub')
if held and held ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'hub', ARGV[2], 'record', ARGV[3], 'result', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1`);

/** Gives an interrupted task to the hub in ARGV[1]. Only one hub gets it. */
const CLAIM = defineScript(`
if redis.call('HGET', KEYS[1], 'hub') ~= '' then return 0 end
redis.call('HSET', KEYS[1], 'hub', ARGV[1])
return 1`);

/** Tasks in a store that several hubs use. */
export class TaskRecords {
  readonly #queues: SharedQueues;

  constructor(queues: SharedQueues) {
    this.#queues = queues;
  }

  /** Stores a task of the hub `from`, which then belongs to `to`. Resolves to false if it belongs to another hub. */
  async store(task: StoredTask, from: string, to: string): Promise<boolean> {
    const { id, owner, createdAt, ttlMs } = task.facts;
    const lifeMs = Math.max(1, Math.ceil(task.isFinal ? task.expiresAt - Date.now() : ttlMs + UNFINISHED_MS));
    const { record, result } = toFields(task);
    if ((await this.#queues.run(STORE, this.#keyOf(id), from, to, record, result, lifeMs)) !== 1) return false;
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
    return fromFields(await this.#fields(id, "hub", "record", "result"));
  }

  /** Returns the tasks of an owner without large results, the newest first. */
  async loadOf(owner: string): Promise<readonly SharedRecord[]> {
    const ids = await this.#members("ZREVRANGE", this.#ownerKey(owner), 0, MAX_LISTED - 1);
    const found: SharedRecord[] = [];
    const gone: string[] = [];
    for (let at = 0; at < ids.length; at += LIST_BATCH) {
      const batch = ids.slice(at, at + LIST_BATCH);
      const records = await Promise.all(batch.map(async (id) => fromFields(await this.#fields(id, "hub", "record"))));
      for (const [index, record] of records.entries())
        if (record) found.push(record);
        else gone.push(batch[index]!);
    }
    if (gone.length > 0) await this.#queues.command("ZREM", this.#ownerKey(owner), ...gone);
    return found;
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

  /** Moves a task from the list of unfinished tasks of one hub to the list of another hub. */
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

  async #fields(id: string, ...names: string[]): Promise<readonly (string | null)[]> {
    return (await this.#queues.command("HMGET", this.#keyOf(id), ...names)) as (string | null)[];
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

/** Returns a task as two fields of the store. `result` is empty if the record contains the result, or has none. */
function toFields(task: StoredTask): { readonly record: string; readonly result: string } {
  const record = task.record();
  const { end } = record;
  if (!isJsonObject(end) || !isJsonObject(end["result"]) || task.size <= MAX_LISTED_RESULT)
    return { record: stringifyExact(record), result: "" };
  const { result } = end;
  const text = `Lists omit this result of ${task.size} characters. Read the task by its id.`;
  const short = { content: [{ type: "text", text }], ...(result["isError"] === true && { isError: true }) };
  const listed = { ...record, end: { ...end, result: short }, isShortened: true };
  return { record: stringifyExact(listed), result: stringifyExact(result) };
}

/** Returns the task of the fields, or `undefined` if the store does not have it. */
function fromFields([hub, text, result]: readonly (string | null)[]): SharedRecord | undefined {
  const parsed: unknown = typeof text === "string" ? parseExact(text) : undefined;
  if (typeof hub !== "string" || !isJsonObject(parsed)) return undefined;
  const { isShortened = false, ...record } = parsed as TaskRecord;
  if (!result || !isJsonObject(record["end"])) return { hub, record: record as TaskRecord, isWhole: !isShortened };
  const end = { ...record["end"], result: parseExact(result) };
  return { hub, record: { ...record, end } as TaskRecord, isWhole: true };
}
