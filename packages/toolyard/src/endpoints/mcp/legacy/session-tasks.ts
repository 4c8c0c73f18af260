import type { Client, Principal, ServerRequest } from "../../../core/calls/call.ts";
import { FailError } from "../../../core/errors.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import { isFinal, RELATED_TASK, type Tasks, type TaskSnapshot } from "../../../core/ports/tasks.ts";
import { nextCallId } from "../../../core/calls/call-id.ts";
import { fail } from "../../../core/calls/outcome.ts";
import { RPC } from "../../../wire/messages.ts";
import type { DialectRequest } from "../../dialect.ts";
import { errorAnswer, resultAnswer, SILENCE, type McpAnswer } from "../answers.ts";
import { failureAnswer } from "../failures.ts";
import type { MethodCodec } from "../methods.ts";
import { readTasks } from "../read-tasks.ts";
import type { CallScope } from "./call-scope.ts";
import { legacyTask, readTaskCall, taskPage } from "./legacy-task.ts";
import type { Outlet } from "./outlet.ts";

/** Parts of a session that its tasks use. */
export interface TaskOwner {
  readonly endpoint: string;
  readonly principal: Principal;
  readonly client: Client;
  note(text: string): void;
  askProblem(ask: ServerRequest): string | undefined;
  put(ask: ServerRequest, outlet: Outlet, signal: AbortSignal): Promise<JsonObject>;
}

/** Maximum number of tasks of one session whose changes are reported to its client. */
const MAX_REPORTED = 1000;

/**
 * Tasks of 2025-11-25 for one session. The tasks belong to its principal, so other sessions of the principal can read
 * them too.
 */
export class SessionTasks {
  readonly #tasks: Tasks;
  readonly #owner: TaskOwner;
  readonly #codec: MethodCodec;
  readonly #closing = new AbortController();
  /** Tasks that this session started, with their last reported status. */
  readonly #reported = new Map<string, string>();
  /** Server requests that were sent to the client and are not answered yet, by task and key. */
  readonly #asked = new Set<string>();
  readonly #stop: () => void;

  constructor(tasks: Tasks, owner: TaskOwner, codec: MethodCodec) {
    this.#tasks = tasks;
    this.#owner = owner;
    this.#codec = codec;
    this.#stop = tasks.changed.on(({ task }) => this.#report(task));
  }

  /** Answers `tools/call` with `task`, and the methods of tasks. */
  async answer({ method, params }: DialectRequest, scope: CallScope): Promise<McpAnswer> {
    if (method === "tools/call") return this.#create(params, scope);
    const { principal } = this.#owner;
    const id = method === "tasks/list" ? undefined : stringMember(params, "taskId");
    if (id === undefined && method !== "tasks/list")
      return errorAnswer(RPC.invalidParams, "Invalid params: `taskId` must be a string.");
    const lost = await readTasks(this.#tasks, { id, principal });
    if (lost) return lost;
    if (id === undefined) return taskPage(this.#tasks.list(principal), params["cursor"]);
    const task = this.#get(id);
    if (!task) return UNKNOWN;
    if (method === "tasks/get") return resultAnswer(legacyTask(task));
    return method === "tasks/cancel" ? this.#cancel(task) : this.#result(task, scope);
  }

  /** Ends the reports to the client. The tasks continue. */
  close(): void {
    this.#stop();
    this.#closing.abort(new FailError(fail("cancelled", "The calling client disconnected.")));
  }

  #get(id: string): TaskSnapshot | undefined {
    return this.#tasks.get(id, this.#owner.principal);
  }

  async #create(params: JsonObject, { requestSpan }: CallScope): Promise<McpAnswer> {
    const wanted = readTaskCall(params);
    if ("problem" in wanted) return errorAnswer(RPC.invalidParams, `Invalid params: ${wanted.problem}.`);
    const { principal, endpoint, client } = this.#owner;
    const { progressToken: token, ...meta } = objectMember(params, "_meta") ?? {};
    try {
      const task = await this.#tasks.start({
        principal,
        endpoint,
        capabilities: client.capabilities,
        meta: requestSpan ? requestSpan.contextIn(meta) : meta,
        ...wanted,
        ...(token !== undefined && { notify: ({ method, params: sent }) => this.#progress(method, sent, token) }),
      });
      if (this.#reported.size < MAX_REPORTED) this.#reported.set(task.id, task.status);
      return resultAnswer({ task: legacyTask({ ...task, status: "working" }) });
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      const call = { id: nextCallId(), method: "tools/call", target: wanted.tool, cancelled: false } as const;
      return failureAnswer(error.failure, call, this.#codec);
    }
  }

  /** Sends progress of a task. The token of the request that created it stays valid until its end. */
  #progress(method: string, sent: JsonObject, progressToken: unknown): void {
    if (method !== "notifications/progress" || this.#closing.signal.aborted) return;
    this.#owner.note(stringifyExact({ jsonrpc: "2.0", method, params: { ...sent, progressToken } }));
  }

  #cancel(task: TaskSnapshot): McpAnswer {
    if (isFinal(task)) {
      const message = `The task has already ended with the status \`${legacyTask(task)["status"]}\`.`;
      return errorAnswer(RPC.invalidParams, message);
    }
    this.#tasks.cancel(task.id, this.#owner.principal);
    return resultAnswer(legacyTask({ ...(this.#get(task.id) ?? task), status: "cancelled" }));
  }

  /** Waits for the end of a task, and returns the answer of its call. Sends its server requests meanwhile. */
  async #result({ id }: TaskSnapshot, scope: CallScope): Promise<McpAnswer> {
    const { principal } = this.#owner;
    const ask = (): void => this.#askFor(id, scope);
    const stop = this.#tasks.changed.on(({ task }) => {
      if (task.id === id) ask();
    });
    ask();
    const end = await this.#tasks.ended(id, principal, scope.signal);
    stop();
    if (!end) return scope.signal.aborted ? SILENCE : UNKNOWN;
    if (end.error) return { type: "error", error: this.#codec.upstreamError(end.error, "tools/call") };
    if (!end.result) return errorAnswer(RPC.internal, "The task was cancelled.");
    const result = this.#codec.result?.("tools/call", end.tool, end.result) ?? end.result;
    return resultAnswer({ ...result, _meta: { ...objectMember(result, "_meta"), [RELATED_TASK]: { taskId: id } } });
  }

  /** Sends the open server requests of a task that no request of this session has sent yet. */
  #askFor(id: string, scope: CallScope): void {
    for (const [key, request] of Object.entries(this.#get(id)?.inputRequests ?? {})) {
      const place = `${id} ${key}`;
      if (this.#asked.has(place) || !isJsonObject(request)) continue;
      this.#asked.add(place);
      void this.#ask({ id, key, request }, scope).finally(() => this.#asked.delete(place));
    }
  }

  async #ask({ id, key, request }: TaskInput, scope: CallScope): Promise<void> {
    const { principal } = this.#owner;
    const params = objectMember(request, "params") ?? {};
    const meta = { ...objectMember(params, "_meta"), [RELATED_TASK]: { taskId: id } };
    const ask: ServerRequest = { method: String(request["method"]), params: { ...params, _meta: meta } };
    const ended = this.#untilAnswered(id, key);
    try {
      const problem = this.#owner.askProblem(ask);
      if (problem !== undefined) throw new FailError(fail("denied", problem, { details: { ask: ask.method } }));
      const signal = AbortSignal.any([scope.signal, this.#closing.signal, ended.signal]);
      const response = await this.#owner.put(ask, scope.outlet, signal);
      this.#tasks.respond(id, principal, { [key]: response });
    } catch (error) {
      // The client has stopped waiting. It may request the result again, and then receives the server request again.
      const isGone = scope.signal.aborted || this.#closing.signal.aborted || ended.signal.aborted;
      if (!isGone && error instanceof FailError) this.#tasks.refuse(id, principal, { key, error });
    } finally {
      ended.stop();
    }
  }

  /** Returns a signal that is aborted when the server request is no longer open. */
  #untilAnswered(id: string, key: string): { readonly signal: AbortSignal; readonly stop: () => void } {
    const controller = new AbortController();
    const stop = this.#tasks.changed.on(({ task }) => {
      if (task.id !== id || task.inputRequests?.[key] !== undefined) return;
      controller.abort(new FailError(fail("cancelled", "The request was answered or withdrawn.")));
    });
    return { signal: controller.signal, stop };
  }

  /** Notifies the client that the status of a task has changed. */
  #report(task: TaskSnapshot): void {
    const before = this.#reported.get(task.id);
    if (before === undefined) return;
    const wire = legacyTask(task);
    if (before === wire["status"]) return;
    if (isFinal(task)) this.#reported.delete(task.id);
    else this.#reported.set(task.id, String(wire["status"]));
    this.#owner.note(stringifyExact({ jsonrpc: "2.0", method: "notifications/tasks/status", params: wire }));
  }
}

interface TaskInput {
  readonly id: string;
  readonly key: string;
  readonly request: JsonObject;
}

const UNKNOWN = errorAnswer(
  RPC.invalidParams,
  "Unknown task: there is none with this id for you. It may have been removed after its time (`ttl`).",
);
