import { BuiltCall } from "../../core/calls/built-call.ts";
import type { Call, CallNotification, Client, ServerRequest } from "../../core/calls/call.ts";
import type { CallerLink } from "../../core/calls/caller-link.ts";
import { Canceller } from "../../core/calls/cancellation.ts";
import { cancelledFailure } from "../../core/calls/deadline.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import { progressText } from "../../core/calls/progress-text.ts";
import type { TaskOffer, TaskPlan, UpstreamTask } from "../../core/calls/task-offer.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { HubCalls } from "../../core/ports/hub-port.ts";
import { startWithin, type Span, type Tracing } from "../../core/ports/tracing.ts";
import type { StartedCall, TaskEnd, TaskObserver, TaskRun } from "../../core/ports/tasks.ts";
import { failureAnswer, type FailureRules } from "../../endpoints/mcp/failures.ts";
import { RPC } from "../../wire/messages.ts";

const MAX_OPEN_REQUESTS = 32;

interface OpenTaskRequest {
  readonly ask: ServerRequest;
  resolve(response: JsonObject): void;
  reject(error: unknown): void;
}

/** Tool call without a waiting caller. A task receives its progress, its server requests and its end. */
export class DetachedRun implements CallerLink, TaskRun {
  readonly endpoint: string;
  readonly client: Client;
  readonly wants = { progress: true };
  readonly relaysInput = false;
  readonly taskOffer: TaskOffer;
  /**
   * Resolves when the call is admitted: to true if its tool is idempotent. Rejects with a `FailError` if the call is
   * refused: an unknown name, missing rights, invalid arguments.
   */
  readonly isIdempotent: Promise<boolean>;
  readonly #caller = new Canceller();
  readonly #open = new Map<string, OpenTaskRequest>();
  #asked = 0;
  #observer: TaskObserver | undefined;
  #progress: string | undefined;
  #end: TaskEnd | undefined;
  /** Name of the innermost tool that may run as a task. */
  #target = "";
  #upstream: UpstreamTask | undefined;
  readonly #span: Span | undefined;
  readonly #notify: StartedCall["notify"];
  #refuse: (error: FailError) => void = () => {};

  constructor(
    hub: Pick<HubCalls, "call">,
    { principal, endpoint, tool, arguments: args, capabilities = {}, notify, follows, meta: given }: StartedCall,
    tracing?: Tracing,
  ) {
    this.#span = startWithin(tracing, { name: "task", kind: "internal" }, given);
    const meta = this.#span?.meta ?? given ?? {};
    this.endpoint = endpoint;
    this.#notify = notify;
    this.client = { capabilities };
    let admit: (isIdempotent: boolean) => void = () => {};
    this.isIdempotent = new Promise((resolve, reject) => {
      admit = resolve;
      this.#refuse = reject;
    });
    // A repeated call has no caller that waits for its admission, so this must not become an unhandled rejection.
    this.isIdempotent.catch(() => {});
    const accept = ({ isIdempotent, tool: target }: TaskPlan): void => {
      this.#target = target;
      admit(isIdempotent);
    };
    this.taskOffer = { accept, delegated: (task) => this.#delegated(task), isRequired: true };
    const subject = { method: "tools/call", params: {}, arguments: args, meta, principal, mode: "all" } as const;
    const target = follows?.target ?? tool;
    const call = new BuiltCall(this, { ...subject, target }, follows && { follows });
    void hub.call(call).then(
      (outcome) => this.#settle(outcome, call),
      (error: unknown) => this.#settle(failureFrom(error), call),
    );
  }

  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  get cancellation(): Canceller {
    return this.#caller;
  }

  observe(observer: TaskObserver): void {
    this.#observer = observer;
    if (this.#upstream) observer.delegated(this.#upstream);
    if (this.#progress !== undefined) observer.progressed(this.#progress);
    if (this.#open.size > 0) observer.inputChanged();
    if (this.#end) observer.settled(this.#end);
  }

  openInput(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#open, ([key, { ask }]) => [key, { method: ask.method, params: ask.params }]),
    );
  }

  respond(responses: JsonObject): void {
    for (const [key, { resolve }] of this.#open) {
      const response = responses[key];
      if (!isJsonObject(response)) continue;
      this.#open.delete(key);
      resolve(response);
    }
    this.#observer?.inputChanged();
  }

  refuse(key: string, error: FailError): void {
    const request = this.#open.get(key);
    this.#open.delete(key);
    request?.reject(error);
    this.#observer?.inputChanged();
  }

  cancel(reason: unknown): void {
    const failure = cancelledFailure(reason);
    this.#caller.abort(failure);
    for (const { reject } of this.#open.values()) reject(failure);
    this.#open.clear();
  }

  notify(notification: CallNotification): void {
    const { method, params } = notification;
    if (!this.#end) this.#notify?.(notification);
    const message = method === "notifications/progress" ? progressText(params) : undefined;
    if (message === undefined || this.#end) return;
    this.#progress = message;
    this.#observer?.progressed(message);
  }

  async ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
    this.#assertAskable(ask);
    const key = `${ask.method.split("/", 1)[0]!}-${(this.#asked += 1)}`;
    const withdraw = (): void => {
      this.#open.get(key)?.reject(cancelledFailure(signal?.reason));
      if (this.#open.delete(key)) this.#observer?.inputChanged();
    };
    signal?.addEventListener("abort", withdraw, { once: true });
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        this.#open.set(key, { ask, resolve, reject });
        this.#observer?.inputChanged();
      });
    } finally {
      signal?.removeEventListener("abort", withdraw);
    }
  }

  #delegated(task: UpstreamTask): void {
    this.#upstream = { ...task, target: this.#target };
    this.#observer?.delegated(this.#upstream);
  }

  #assertAskable({ method }: ServerRequest): void {
    this.#caller.throwIfAborted();
    const capability = method.split("/", 1)[0]!;
    if (!Object.hasOwn(this.client.capabilities, capability))
      throw new FailError(
        fail("denied", `The caller of this task does not answer \`${method}\`.`, { details: { ask: method } }),
      );
    if (this.#open.size >= MAX_OPEN_REQUESTS)
      throw new FailError(fail("limited", `This task has ${MAX_OPEN_REQUESTS} open requests for input already.`));
  }

  #settle(outcome: Outcome, { id, target }: Pick<Call, "id" | "target">): void {
    if (!outcome.ok) this.#refuse(new FailError(outcome));
    this.#span?.end(outcome.ok ? undefined : outcome.kind);
    this.#end = endOf(outcome, { id, target });
    this.#observer?.settled(this.#end);
  }
}

/** Rules that give the errors of a finished task the form of 2026-07-28. */
const RULES: FailureRules = {
  invalidArguments: "isError",
  resourceNotFoundCode: RPC.invalidParams,
  upstreamError: (error) => error,
};

function endOf(outcome: Outcome, { id, target }: Pick<Call, "id" | "target">): TaskEnd {
  if (outcome.ok) return { type: "result", result: outcome.result };
  if (outcome.kind === "cancelled") return { type: "cancelled" };
  const answer = failureAnswer(outcome, { id, method: "tools/call", target, cancelled: false }, RULES);
  if (answer.type === "result") return answer;
  if (answer.type === "error") return { type: "error", error: answer.error };
  return { type: "cancelled" };
}

function failureFrom(error: unknown): Outcome {
  return error instanceof FailError ? error.failure : fail("internal", "The call failed by a fault of the hub.");
}
