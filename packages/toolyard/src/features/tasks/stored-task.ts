import { randomBytes } from "node:crypto";
import type { UpstreamTask } from "../../core/calls/task-offer.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { isoNow } from "../../core/text/iso-now.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { isFinal, type TaskEnd, type TaskRun, type TaskSnapshot, type TaskStatus } from "../../core/ports/tasks.ts";
import { firstChars } from "../../core/text/truncate.ts";
import type { TaskRecord } from "./task-journal.ts";

/** Maximum length of a progress message that a task keeps. */
const MAX_MESSAGE_CHARS = 1000;

const ID_BYTES = 16;

/** Returns a random id. It never begins with `-`, because commands would read such an id as an option. */
export function newTaskId(): string {
  return randomBytes(ID_BYTES).toString("base64url").replace(/^-/, "_");
}

/** Facts of a task that never change. */
export interface TaskFacts {
  readonly id: string;
  /** Key of the owner, as `callerKey` returns it. */
  readonly owner: string;
  readonly tool: string;
  readonly endpoint: string;
  readonly createdAt: string;
  readonly ttlMs: number;
  readonly arguments: JsonObject;
  readonly isIdempotent: boolean;
  /** Task of an upstream server that runs the call. */
  readonly upstream?: UpstreamTask | undefined;
}

/** A task with its state. */
export class StoredTask {
  facts: TaskFacts;
  /** Size of the stored arguments and result in characters. */
  size: number;
  /** Present while the task's call runs in this process. */
  run: TaskRun | undefined;
  #status: TaskStatus = "working";
  #message: string | undefined;
  #updatedAt: string;
  #end: TaskEnd | undefined;
  /** Open server requests of a task that another hub runs. */
  #remoteInput: JsonObject = {};

  constructor(facts: TaskFacts) {
    // Arguments are kept only for an idempotent call, because only such a call is repeated after a crash.
    this.facts = facts.isIdempotent ? facts : { ...facts, arguments: {} };
    this.size = stringifyExact(this.facts.arguments).length;
    this.#updatedAt = facts.createdAt;
  }

  /** Returns the task of a record in the journal, or `undefined` if the record is not that of a task. */
  static from(record: TaskRecord): StoredTask | undefined {
    const { facts, end, status, message, updatedAt, input = {} } = record as unknown as StoredTaskRecord;
    if (typeof facts !== "object" || facts === null || typeof facts.owner !== "string") return undefined;
    const task = new StoredTask(facts);
    if (end) task.finish(end);
    task.#status = status;
    task.#remoteInput = input;
    task.#message = message;
    task.#updatedAt = updatedAt;
    return task;
  }

  /** True if the call can be continued after its hub ended. */
  get isResumable(): boolean {
    return this.facts.isIdempotent || this.facts.upstream !== undefined;
  }

  get isFinal(): boolean {
    return isFinal({ status: this.#status });
  }

  /** Time after which a finished task is removed, in milliseconds since 1970. Its result is kept for the whole time. */
  get expiresAt(): number {
    return Date.parse(this.#updatedAt) + this.facts.ttlMs;
  }

  progressed(message: string): void {
    this.#message = firstChars(message, MAX_MESSAGE_CHARS);
    this.#updatedAt = isoNow();
  }

  /** Sets the status of a running task from its open server requests. */
  inputChanged(): void {
    if (this.isFinal) return;
    this.#status = Object.keys(this.run?.openInput() ?? {}).length > 0 ? "input_required" : "working";
    this.#updatedAt = isoNow();
  }

  finish(end: TaskEnd): void {
    this.#status = end.type === "result" ? "completed" : end.type === "error" ? "failed" : "cancelled";
    this.#end = end;
    this.#updatedAt = isoNow();
    if (end.type === "error") this.#message = firstChars(end.error.message, MAX_MESSAGE_CHARS);
    // The last progress message shows how far a cancelled task came, but does not describe a completed one.
    else if (end.type === "result") this.#message = undefined;
    this.run = undefined;
    this.facts = { ...this.facts, arguments: {} };
    this.size = end.type === "result" ? stringifyExact(end.result).length : 0;
  }

  snapshot(): TaskSnapshot {
    const { id, tool, endpoint, createdAt, ttlMs } = this.facts;
    const end = this.#end;
    return {
      id,
      status: this.#status,
      ...(this.#message !== undefined && { statusMessage: this.#message }),
      tool,
      endpoint,
      createdAt,
      updatedAt: this.#updatedAt,
      ttlMs,
      pollIntervalMs: POLL_INTERVAL_MS,
      ...(this.#status === "input_required" && { inputRequests: this.run?.openInput() ?? this.#remoteInput }),
      ...(end?.type === "result" && { result: end.result }),
      ...(end?.type === "error" && { error: end.error }),
    };
  }

  record(): TaskRecord {
    const { facts } = this;
    return {
      id: facts.id,
      facts,
      status: this.#status,
      updatedAt: this.#updatedAt,
      ...(this.#status === "input_required" && { input: this.run?.openInput() ?? this.#remoteInput }),
      ...(this.#message !== undefined && { message: this.#message }),
      ...(this.#end && { end: this.#end }),
    };
  }
}

const POLL_INTERVAL_MS = 2000;

interface StoredTaskRecord {
  readonly facts: TaskFacts;
  readonly status: TaskStatus;
  readonly updatedAt: string;
  readonly message?: string;
  readonly end?: TaskEnd;
  readonly input?: JsonObject;
}
