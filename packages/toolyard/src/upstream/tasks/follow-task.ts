import { cancellationOf, type Call } from "../../core/calls/call.ts";
import { ok, fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import { askCaller } from "../../core/calls/request-to-caller.ts";
import type { UpstreamTask } from "../../core/calls/task-offer.ts";
import { isFinal, RELATED_TASK } from "../../core/ports/tasks.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { firstChars } from "../../core/text/truncate.ts";
import { abortFailure } from "../../core/timing/wait.ts";
import { RPC } from "../../wire/messages.ts";
import { toOutcome } from "../connection/answers.ts";
import { failureOf } from "../faults.ts";
import { PollPause } from "./poll-pause.ts";

/** Requests about a task. Each is sent over a connection that is open, so a reconnection does not end the task. */
export interface TaskChannel {
  /** Sends a request of the hub itself. Rejects with a `FailError`. */
  request(method: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject>;
  /** Sends a request that belongs to the call: server requests on its stream reach the caller. */
  call(method: string, params: JsonObject): Promise<Outcome>;
  /** Aborted when the hub closes the source. The task then continues at its server. */
  readonly closed: AbortSignal;
}

/** A task that a server created for a call. */
export interface FollowedTask {
  readonly task: UpstreamTask;
  /** State that the server returned with the task. */
  readonly state: JsonObject;
}

/** Maximum time in milliseconds without a state of the task before it counts as lost. */
const MAX_LOST_MS = 60_000;
/** Maximum time in milliseconds for `tasks/cancel`. */
const CANCEL_MS = 5000;
const MAX_MESSAGE_CHARS = 1000;
/** Errors of `tasks/get` that are final: the server does not know the task, or no tasks at all. */
const FINAL_ERRORS: readonly number[] = [RPC.invalidParams, RPC.methodNotFound];

/**
 * Waits for the end of a task by polling, and returns its outcome. Reports status messages as progress, and passes
 * requests for input to the caller. If the call is cancelled, cancels the task.
 */
export async function followTask(followed: FollowedTask, call: Call, channel: TaskChannel): Promise<Outcome> {
  const follower = new TaskFollower(followed, call, channel);
  const outcome = await follower.run();
  if (follower.isOpen && !channel.closed.aborted) void follower.cancel();
  return outcome;
}

class TaskFollower {
  readonly #task: UpstreamTask;
  readonly #call: Call;
  readonly #channel: TaskChannel;
  readonly #pause: PollPause;
  #state: JsonObject;
  #message: string | undefined;
  #polls = 0;
  #lostSince: number | undefined;
  /** Keys of the server requests that were passed to the caller. A key is unique within a task. */
  readonly #asked = new Set<string>();
  /** End of the task that was found outside the polls: a result, or a caller that does not answer. */
  #end: Outcome | undefined;
  /** True while the server may still run the task. */
  isOpen = true;

  constructor({ task, state }: FollowedTask, call: Call, channel: TaskChannel) {
    this.#task = task;
    this.#state = state;
    this.#call = call;
    this.#channel = channel;
    this.#pause = new PollPause(AbortSignal.any([call.signal, channel.closed]));
  }

  async run(): Promise<Outcome> {
    if (this.#task.era === "legacy") void this.#awaitResult();
    // A task may have ended when it is created. Its result and its requests for input are only in the answer to a poll.
    else if (this.#state["status"] !== "working") await this.#poll();
    for (;;) {
      const known = this.#found();
      if (known) return known;
      const end = this.#report() ? await this.#finish() : undefined;
      if (end) return end;
      await this.#pause.wait(this.#state);
      if (!this.#found()) await this.#poll();
    }
  }

  /** Returns the outcome if it is known without another poll. */
  #found(): Outcome | undefined {
    if (this.#end) return this.#end;
    const cancellation = cancellationOf(this.#call);
    if (cancellation.aborted) return abortFailure(cancellation).failure;
    return this.#channel.closed.aborted ? abortFailure(this.#channel.closed).failure : undefined;
  }

  /** Requests the end of the task. The server decides whether it ends. */
  async cancel(): Promise<void> {
    await this.#request("tasks/cancel", {}, AbortSignal.timeout(CANCEL_MS)).catch(() => {});
  }

  /** Reports the state to the caller. Returns true if the task has ended. */
  #report(): boolean {
    const message = stringMember(this.#state, "statusMessage");
    this.#call.deadline?.touch();
    if (message !== undefined && message !== this.#message && this.#call.wants.progress) {
      const params = { progress: this.#polls, message: firstChars(message, MAX_MESSAGE_CHARS) };
      this.#call.notify({ method: "notifications/progress", params });
    }
    this.#message = message;
    if (this.#state["status"] === "input_required" && this.#task.era === "modern") this.#passInput();
    return isFinal(this.#state);
  }

  /** Returns the outcome of an ended task. */
  async #finish(): Promise<Outcome | undefined> {
    this.isOpen = false;
    const { status, result, error } = this.#state;
    if (status === "cancelled") return CANCELLED;
    if (this.#task.era === "legacy") return await this.#readResult();
    if (isJsonObject(result)) return toOutcome("tools/call", { jsonrpc: "2.0", id: 0, result });
    const { code, message = "" } = isJsonObject(error) ? error : {};
    const rpcError = { code: Number(code), message: String(message) };
    if (typeof code === "number") return toOutcome("tools/call", { jsonrpc: "2.0", id: 0, error: rpcError });
    return fail("malformed", "The server's task ended without a result. The author of the server must fix that.");
  }

  /** Reads the state. Sets the end if the task is lost. */
  async #poll(): Promise<void> {
    this.#polls += 1;
    try {
      this.#state = await this.#request("tasks/get", {}, this.#call.signal);
      this.#lostSince = undefined;
    } catch (error) {
      const failure = cancellationOf(this.#call).aborted ? undefined : this.#lost(failureOf(error));
      if (failure) this.#settle(failure);
    }
  }

  /**
   * Returns a failure that is final: the server does not know the task, or has returned no state for too long. Another
   * error may be temporary, such as that of a limit.
   */
  #lost(failure: Fail): Fail | undefined {
    if (failure.rpcError && FINAL_ERRORS.includes(failure.rpcError.code)) {
      this.isOpen = false;
      return fail("tool_error", `The server lost the task of this call: ${failure.rpcError.message}`);
    }
    const now = performance.now();
    this.#lostSince ??= now;
    if (now - this.#lostSince < MAX_LOST_MS) return undefined;
    return { ...failure, retryable: false, details: { ...failure.details, sent: true } };
  }

  /**
   * Sends `tasks/result`. A server answers it when the task ends, and sends its requests for input on the same stream.
   * Another attempt follows only after the task's end, since some servers refuse the request before it.
   */
  async #awaitResult(): Promise<void> {
    const outcome = await this.#channel.call("tasks/result", { taskId: this.#task.taskId });
    if (!outcome.ok && outcome.kind !== "tool_error") return;
    if (!outcome.ok && outcome.rpcError && !(await this.#hasEnded())) return;
    this.isOpen = false;
    this.#settle(withoutTaskId(outcome));
  }

  async #hasEnded(): Promise<boolean> {
    return isFinal(await this.#request("tasks/get", {}).catch((): JsonObject => ({})));
  }

  async #readResult(): Promise<Outcome | undefined> {
    const outcome = await this.#channel.call("tasks/result", { taskId: this.#task.taskId });
    if (this.#end) return this.#end;
    if (outcome.ok || outcome.kind !== "unavailable") return withoutTaskId(outcome);
    return this.#lost(outcome);
  }

  /** Passes new requests for input to the caller, and its answers to the server, without delaying the polls. */
  #passInput(): void {
    for (const [key, request] of Object.entries(objectMember(this.#state, "inputRequests") ?? {})) {
      const method = isJsonObject(request) ? stringMember(request, "method") : undefined;
      if (this.#asked.has(key) || method === undefined || !isJsonObject(request)) continue;
      if (this.#asked.size >= MAX_ASKED) return this.#settle(fail("malformed", TOO_MANY));
      this.#asked.add(key);
      void this.#ask(key, method, objectMember(request, "params") ?? {});
    }
  }

  async #ask(key: string, method: string, params: JsonObject): Promise<void> {
    try {
      const answer = await askCaller(this.#call, { method, params });
      await this.#request("tasks/update", { inputResponses: { [key]: answer } });
      this.#pause.end();
    } catch (error) {
      this.#settle(failureOf(error));
    }
  }

  #settle(end: Outcome): void {
    this.#end ??= end;
    this.#pause.end();
  }

  #request(method: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    return this.#channel.request(method, { taskId: this.#task.taskId, ...params }, signal);
  }
}

const CANCELLED = fail("cancelled", "The server cancelled the task of this call.");
/** Maximum number of requests for input of one task. */
const MAX_ASKED = 256;
const TOO_MANY = `The server's task sent more than ${MAX_ASKED} requests for input. It was cancelled.`;

/** Removes the server's own task id from a result. */
function withoutTaskId(outcome: Outcome): Outcome {
  const result = outcome.result;
  const meta = result && objectMember(result, "_meta");
  if (!result || !meta || !(RELATED_TASK in meta)) return outcome;
  const { [RELATED_TASK]: _id, ...others } = meta;
  const { _meta, ...rest } = result;
  const cleaned = Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest;
  return outcome.ok ? ok(cleaned) : { ...outcome, result: cleaned };
}
