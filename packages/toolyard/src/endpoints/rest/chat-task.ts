import { cancelledFailure } from "../../core/calls/deadline.ts";
import { KIND_META_KEY } from "../../core/calls/kinds.ts";
import type { Principal } from "../../core/calls/call.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Chat, ChatEvent, ChatReply, ChatTurn } from "../../core/ports/chat.ts";
import type { TaskEnd, TaskObserver, TaskRun, Tasks, TaskSnapshot } from "../../core/ports/tasks.ts";
import { RPC } from "../../wire/messages.ts";
import type { ChatBody } from "./chat.ts";

/** Name of the agent, in the member of a task that otherwise names a tool. */
const AGENT = "chat";

/**
 * Starts an answer of the agent as a task. Rejects with a `FailError` if the caller has too many unfinished tasks, or
 * if the task cannot be stored.
 */
export async function startChatTask(
  { tasks, chat }: { readonly tasks: Tasks; readonly chat: Chat },
  body: ChatBody & Pick<ChatTurn, "meta">,
  principal: Principal,
): Promise<TaskSnapshot> {
  await tasks.ready();
  await tasks.admit(principal);
  const run = new AgentRun((signal, onEvent) => chat.reply({ ...body, principal, signal, onEvent }));
  // The message is not stored: an answer that was interrupted is not repeated, because its tools may have had effects.
  const { meta } = body;
  const call = { principal, endpoint: "rest", tool: AGENT, arguments: {}, isIdempotent: false, meta };
  return await tasks.create(call, run);
}

type Answering = (signal: AbortSignal, onEvent: (event: ChatEvent) => void) => Promise<ChatReply>;

/** Answer of the agent whose caller does not wait. Steps and calls of tools are its progress. */
export class AgentRun implements TaskRun {
  readonly #caller = new AbortController();
  #observer: TaskObserver | undefined;
  #progress: string | undefined;
  #end: TaskEnd | undefined;

  constructor(answering: Answering) {
    void answering(this.#caller.signal, (event) => this.#onEvent(event)).then(
      (reply) => this.#settle(endOf(reply)),
      (error: unknown) => this.#settle(failedEnd(error)),
    );
  }

  observe(observer: TaskObserver): void {
    this.#observer = observer;
    if (this.#progress !== undefined) observer.progressed(this.#progress);
    if (this.#end) observer.settled(this.#end);
  }

  /** Returns no requests: the agent's tools cannot ask its caller. */
  openInput(): JsonObject {
    return {};
  }

  respond(): void {}

  refuse(): void {}

  cancel(reason: unknown): void {
    this.#caller.abort(cancelledFailure(reason));
  }

  #onEvent({ type, step, tool }: ChatEvent): void {
    const text = type === "step" ? `Step ${String(step)}` : type === "call" ? `Calling ${String(tool)}` : undefined;
    if (text === undefined || this.#end) return;
    this.#progress = text;
    this.#observer?.progressed(text);
  }

  #settle(end: TaskEnd): void {
    this.#end = end;
    this.#observer?.settled(end);
  }
}

function endOf(reply: ChatReply): TaskEnd {
  const { text, stopReason } = reply;
  if (stopReason === "cancelled") return { type: "cancelled" };
  const result = { content: [{ type: "text", text }], structuredContent: { ...reply } };
  return { type: "result", result: stopReason === "error" ? { ...result, isError: true } : result };
}

function failedEnd(error: unknown): TaskEnd {
  const kind = error instanceof FailError ? error.failure.kind : "internal";
  return { type: "error", error: { code: RPC.internal, message: messageOf(error), data: { [KIND_META_KEY]: kind } } };
}
