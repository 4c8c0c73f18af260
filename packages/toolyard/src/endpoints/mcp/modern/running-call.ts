import { Canceller, type Cancellation } from "../../../core/calls/cancellation.ts";
import type { ServerRequest, Client, CallNotification } from "../../../core/calls/call.ts";
import { cancelledFailure } from "../../../core/calls/deadline.ts";
import { FailError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { fail } from "../../../core/calls/outcome.ts";
import type { CallerLink } from "../../../core/calls/caller-link.ts";
import type { Span } from "../../../core/ports/tracing.ts";
import { progressText } from "../../../core/calls/progress-text.ts";
import type { TaskOffer, TaskPlan, UpstreamTask } from "../../../core/calls/task-offer.ts";
import type { TaskEnd, TaskObserver, TaskRun } from "../../../core/ports/tasks.ts";
import type { McpAnswer } from "../answers.ts";
import { reachesLevel } from "../../../wire/log-level.ts";
import type { RequestId } from "../../../wire/messages.ts";
import {
  asUndeclared,
  isInputMethod,
  isInputResponse,
  joinCapabilities,
  missingCapabilities,
  undeclaredFailure,
} from "./input-requests.ts";

export interface RunningCallOptions {
  /** True if a source's own request for input is passed to the caller unchanged. */
  readonly relaysInput: boolean;
  /** True if the caller supports tasks. @default false */
  readonly offersTask?: boolean;
}

/** One request that waits for a call: the first one, or a retry with answers. */
export interface Visit {
  /** Endpoint that received the request. */
  readonly endpoint: string;
  readonly signal: Cancellation;
  readonly capabilities: JsonObject;
  readonly progressToken: RequestId | undefined;
  readonly logLevel: string | undefined;
  readonly requestSpan?: Span | undefined;
  note(method: string, params: JsonObject): void;
}

/** Shared map that stays empty. A call with server requests gets a separate map. */
const NO_QUESTIONS = new Map<string, SuspendedRequest>();

/** Result of a visit: the call's answer, or server requests to its caller. */
export type VisitEnd =
  | { readonly type: "answer"; readonly answer: McpAnswer }
  | { readonly type: "input"; readonly inputRequests: JsonObject }
  /** The call continues as a task, unless the caller has too many unfinished tasks. */
  | { readonly type: "task"; readonly plan: TaskPlan };

interface SuspendedRequest {
  readonly ask: ServerRequest;
  /** True after the server request was sent to the caller. */
  isPut: boolean;
  resolve(response: JsonObject): void;
  reject(error: unknown): void;
}

/**
 * A call of the modern era. Its server requests cannot be sent to the caller directly. They are the result of the
 * current visit, and the call waits until the caller sends the answers in a new request (the next visit). Notifications
 * between two visits are kept for the next visit.
 */
export class RunningCall implements CallerLink, TaskRun {
  readonly endpoint: string;
  readonly client: Client;
  readonly cancellation: Cancellation;
  readonly wants: CallerLink["wants"];
  readonly relaysInput: boolean;
  readonly taskOffer?: TaskOffer;
  /** Span of the first request. Later visits have spans of their own. */
  readonly requestSpan: Span | undefined;
  readonly #caller = new Canceller();
  /** Most calls have no server requests. */
  #questions = NO_QUESTIONS;
  #capabilities: JsonObject;
  #visit: Visit | undefined;
  #endVisit: ((end: VisitEnd) => void) | undefined;
  /** Removes the listener for the disconnection of this visit's caller. */
  #onGone: (() => void) | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #held: CallNotification[] = [];
  #asked = 0;
  #answer: McpAnswer | undefined;
  /** Missing capabilities, because of which server requests were refused. */
  #undeclared: JsonObject | undefined;
  /** Last progress message, for the task. */
  #progress: string | undefined;
  #plan: TaskPlan | undefined;
  /** Name of the innermost tool that may run as a task. */
  #target = "";
  #upstream: UpstreamTask | undefined;
  #planTimer: NodeJS.Timeout | undefined;
  /** True after the time of the task plan (`afterMs`) has passed. */
  #isDue = false;
  /** Present if the call is a task. It then has no further visits. */
  #observer: TaskObserver | undefined;

  constructor(client: Client, visit: Visit, { relaysInput, offersTask = false }: RunningCallOptions) {
    this.endpoint = visit.endpoint;
    this.client = client;
    this.cancellation = this.#caller;
    // A source's own request for input requires a retry by the caller. A task has no retries, so such requests are not
    // relayed.
    this.relaysInput = relaysInput && !offersTask;
    if (offersTask)
      this.taskOffer = { accept: (plan) => this.#accept(plan), delegated: (task) => this.#delegated(task) };
    this.#capabilities = visit.capabilities;
    this.wants = {
      progress: offersTask || visit.progressToken !== undefined,
      ...(visit.logLevel !== undefined && { logLevel: visit.logLevel }),
    };
    this.#visit = visit;
    this.requestSpan = visit.requestSpan;
  }

  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  /**
   * Settles the call. A server request that the caller has already received may belong to another call, so it stays
   * open until the caller's next request. The answer of this call is sent with that request.
   */
  settle(own: McpAnswer): void {
    const answer = this.#undeclared && this.relaysInput ? asUndeclared(own, this.#undeclared) : own;
    this.#answer = answer;
    clearTimeout(this.#planTimer);
    if (this.#questions.size > 0) this.#rejectAll(over(), ({ isPut, ask }) => !isPut || ask.outlivesCall !== true);
    this.#end({ type: "answer", answer });
    this.#observer?.settled(taskEnd(answer));
  }

  /** Starts a visit. Resolves when the call ends or has a server request. A call has one visit at a time. */
  take(visit: Visit): Promise<VisitEnd> {
    if (this.#answer) {
      this.#flushTo(visit);
      if (this.#questions.size > 0) this.#rejectAll(over());
      return Promise.resolve({ type: "answer", answer: this.#answer });
    }
    if (this.#isDue && this.#plan) return Promise.resolve({ type: "task", plan: this.#plan });
    const end = new Promise<VisitEnd>((resolve) => (this.#endVisit = resolve));
    this.#visit = visit;
    this.#capabilities = visit.capabilities;
    if (this.#held.length > 0) this.#flushTo(visit);
    if (visit.signal.aborted) {
      this.cancel(visit.signal.reason);
      return end;
    }
    this.#onGone = RunningCall.#cancelOf(this, visit);
    visit.signal.addEventListener("abort", this.#onGone, { once: true });
    if (this.#questions.size > 0) this.#refuseUndeclared();
    if (this.#questions.size > 0) this.#gather();
    return end;
  }

  // A static method, because on Node 20 other closures stay in memory until a full garbage collection.
  static #cancelOf(call: RunningCall, { signal }: Visit): () => void {
    return () => call.cancel(signal.reason);
  }

  /** Passes the answers to the server requests. A missing or malformed answer leaves its request open. */
  respond(responses: JsonObject): void {
    for (const [key, question] of this.#questions) {
      const response = responses[key];
      if (!isInputResponse(question.ask.method, response)) continue;
      this.#questions.delete(key);
      question.resolve(response);
    }
    this.#observer?.inputChanged();
  }

  refuse(key: string, error: FailError): void {
    const question = this.#questions.get(key);
    this.#questions.delete(key);
    question?.reject(error);
    this.#observer?.inputChanged();
  }

  /** Lets the call continue without becoming a task. */
  refuseTask(): void {
    clearTimeout(this.#planTimer);
    this.#isDue = false;
    this.#plan = undefined;
  }

  observe(observer: TaskObserver): void {
    this.#observer = observer;
    if (this.#progress !== undefined) observer.progressed(this.#progress);
    this.#held = [];
    if (this.#questions.size > 0) observer.inputChanged();
    if (this.#answer) observer.settled(taskEnd(this.#answer));
  }

  openInput(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#questions, ([key, { ask }]) => [key, { method: ask.method, params: ask.params }]),
    );
  }

  #progressed(params: JsonObject): void {
    this.#progress = progressText(params) ?? this.#progress;
    if (this.#progress !== undefined) this.#observer?.progressed(this.#progress);
  }

  /** Task of an upstream server that runs the call. */
  get upstream(): UpstreamTask | undefined {
    return this.#upstream;
  }

  #delegated(task: UpstreamTask): void {
    this.#upstream = { ...task, target: this.#target };
    this.#observer?.delegated(this.#upstream);
    if (this.#plan) this.#accept({ ...this.#plan, afterMs: 0 });
  }

  #accept(plan: TaskPlan): void {
    this.#target = plan.tool;
    if (this.#answer || this.#observer || (this.#plan && this.#plan.afterMs <= plan.afterMs)) return;
    // An inner call may require an earlier task. The plan still names the outer tool.
    this.#plan = this.#plan ? { ...this.#plan, afterMs: plan.afterMs } : plan;
    clearTimeout(this.#planTimer);
    if (plan.afterMs === 0) return this.#becomeDue(this.#plan);
    this.#planTimer = setTimeout(() => this.#becomeDue(plan), plan.afterMs);
    this.#planTimer.unref();
  }

  #becomeDue(plan: TaskPlan): void {
    this.#isDue = true;
    if (this.#visit && this.#endVisit) this.#end({ type: "task", plan });
  }

  /** Cancels the call, because the caller cancelled or did not return. */
  cancel(reason: unknown): void {
    const failure = cancelledFailure(reason);
    this.#caller.abort(failure);
    this.#rejectAll(failure);
    clearTimeout(this.#gathering);
    clearTimeout(this.#planTimer);
  }

  /** Rejects the open server requests with the error, because no caller can answer them. The call continues. */
  refuseQuestions(error: FailError): void {
    this.#rejectAll(error);
  }

  notify(notification: CallNotification): void {
    if (this.#answer || this.#caller.aborted) return;
    if (this.taskOffer && notification.method === PROGRESS) this.#progressed(notification.params);
    if (this.#observer) return;
    if (this.#visit) deliver(notification, this.#visit);
    else this.#hold(notification);
  }

  async ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> {
    if (this.#answer) throw over();
    this.#caller.throwIfAborted();
    signal?.throwIfAborted();
    this.#assertAskable(ask);
    const key = `${ask.method.split("/", 1)[0]!}-${(this.#asked += 1)}`;
    const onAbort = (): void => this.#withdraw(key, signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        if (this.#questions === NO_QUESTIONS) this.#questions = new Map();
        this.#questions.set(key, { ask, isPut: false, resolve, reject });
        this.#gather();
        this.#observer?.inputChanged();
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #assertAskable(ask: ServerRequest): void {
    if (!isInputMethod(ask.method)) {
      const message = `A client of this protocol revision cannot be asked \`${ask.method}\`.`;
      throw new FailError(fail("denied", message, { details: { ask: ask.method } }));
    }
    const missing = missingCapabilities(ask, this.#capabilities);
    if (missing) throw this.#undeclaredFailure(missing);
    if (this.#questions.size >= MAX_QUESTIONS)
      throw new FailError(
        fail(
          "limited",
          `The calling client has ${MAX_QUESTIONS} unanswered server requests of this call, which is the limit.`,
        ),
      );
  }

  // Collects server requests for a moment, because a source writes concurrent requests one after another.
  #gather(): void {
    if (!this.#visit || this.#gathering !== undefined) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      if (this.#questions.size === 0) return;
      for (const question of this.#questions.values()) question.isPut = true;
      const inputRequests = Object.fromEntries(
        Array.from(this.#questions, ([key, { ask }]) => [key, { method: ask.method, params: ask.params }]),
      );
      this.#end({ type: "input", inputRequests });
    }, GATHER_MS);
  }

  #end(end: VisitEnd): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#onGone) this.#visit?.signal.removeEventListener("abort", this.#onGone);
    this.#onGone = undefined;
    this.#visit = undefined;
    this.#endVisit?.(end);
    this.#endVisit = undefined;
  }

  // The open server requests are checked again, because a retry may declare fewer capabilities than the first request.
  #refuseUndeclared(): void {
    for (const [key, { ask, reject }] of this.#questions) {
      const missing = missingCapabilities(ask, this.#capabilities);
      if (!missing) continue;
      this.#questions.delete(key);
      reject(this.#undeclaredFailure(missing));
    }
  }

  #undeclaredFailure(missing: JsonObject): FailError {
    this.#undeclared = joinCapabilities(this.#undeclared ?? {}, missing);
    return undeclaredFailure(missing);
  }

  #withdraw(key: string, reason: unknown): void {
    const question = this.#questions.get(key);
    this.#questions.delete(key);
    question?.reject(cancelledFailure(reason));
    this.#observer?.inputChanged();
  }

  #rejectAll(error: unknown, isMeant: (question: SuspendedRequest) => boolean = () => true): void {
    for (const [key, question] of this.#questions) {
      if (!isMeant(question)) continue;
      this.#questions.delete(key);
      question.reject(error);
    }
  }

  #hold(notification: CallNotification): void {
    this.#held.push(notification);
    if (this.#held.length <= MAX_HELD_NOTIFICATIONS) return;
    // The most recent progress matters most, so earlier progress is dropped first.
    const progress = this.#held.findIndex(({ method }) => method === PROGRESS);
    this.#held.splice(Math.max(0, progress), 1);
  }

  #flushTo(visit: Visit): void {
    for (const notification of this.#held) deliver(notification, visit);
    this.#held = [];
  }
}

function taskEnd(answer: McpAnswer): TaskEnd {
  if (answer.type === "result") return { type: "result", result: answer.result };
  return answer.type === "error" ? { type: "error", error: answer.error } : { type: "cancelled" };
}

function deliver({ method, params }: CallNotification, visit: Visit): void {
  if (method === PROGRESS && visit.progressToken !== undefined)
    visit.note(method, { ...params, progressToken: visit.progressToken });
  if (method === MESSAGE && visit.logLevel !== undefined && reachesLevel(params["level"], visit.logLevel))
    visit.note(method, params);
}

function over(): FailError {
  return new FailError(fail("cancelled", "The call is over, so its caller cannot be asked any more."));
}

const PROGRESS = "notifications/progress";
const MESSAGE = "notifications/message";
const GATHER_MS = 15;
const MAX_QUESTIONS = 32;
const MAX_HELD_NOTIFICATIONS = 64;
