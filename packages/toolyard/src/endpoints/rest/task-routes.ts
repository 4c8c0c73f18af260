import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { FailError } from "../../core/errors.ts";
import type { Chat } from "../../core/ports/chat.ts";
import type { ChatBody } from "./chat.ts";
import { toolValue } from "../../core/calls/tool-value.ts";
import { isFinal, type Tasks, type TaskSnapshot } from "../../core/ports/tasks.ts";
import { contextOfHeaders } from "../../core/trace-context.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { sendFailure, sendText, sendValue, shown, wantsFull } from "./answer.ts";
import { stringifyValue } from "../../core/json/json-text.ts";
import { mountPath } from "./mount-path.ts";
import type { RestExchange } from "./rest-exchange.ts";

/** Capabilities of callers that start a task. They answer server requests with `POST …/input`. */
const CAPABILITIES: JsonObject = { elicitation: {} };

/** Returns true if the request prefers a response of `202 Accepted` to waiting for the result (RFC 7240). */
export function prefersAsync({ http }: RestExchange): boolean {
  return (http.header("prefer") ?? "").split(",").some((one) => one.trim().toLowerCase() === "respond-async");
}

/** Paths of tasks, which are calls that the same principal started with `Prefer: respond-async` or over MCP. */
export class TaskRoutes {
  readonly #tasks: Tasks;
  readonly #base: string;

  /** `base`: path of the REST endpoint below the base path of the hub. */
  constructor(tasks: Tasks, base: string) {
    this.#tasks = tasks;
    this.#base = `${base}/tasks`;
  }

  mount(listener: Mountable): void {
    mountPath(listener, this.#base, { GET: answering((exchange) => this.#list(exchange)) });
    mountPath(listener, `${this.#base}/*`, {
      GET: answering((exchange) => this.#show(exchange)),
      POST: answering((exchange) => this.#respond(exchange)),
      DELETE: answering((exchange) => this.#cancel(exchange)),
    });
  }

  /** Starts a call as a task, and responds with the address of the task. */
  async start(exchange: RestExchange, tool: string, args: JsonObject): Promise<void> {
    const { principal, baseUrl } = exchange.http;
    const task = await this.#tasks.start({
      principal,
      endpoint: "rest",
      tool,
      arguments: args,
      meta: exchange.http.requestSpan?.meta ?? contextOfHeaders(exchange.http),
      capabilities: CAPABILITIES,
    });
    this.#accepted(exchange, task, baseUrl);
  }

  /** Starts an answer of the agent as a task, and responds with the address of the task. */
  async startChat(exchange: RestExchange, chat: Chat, body: ChatBody): Promise<void> {
    const { principal, baseUrl } = exchange.http;
    const { startChatTask } = await import("./chat-task.ts");
    const meta = exchange.http.requestSpan?.meta ?? contextOfHeaders(exchange.http);
    const task = await startChatTask({ tasks: this.#tasks, chat }, { ...body, meta }, principal);
    this.#accepted(exchange, task, baseUrl);
  }

  #accepted({ answer }: RestExchange, task: TaskSnapshot, baseUrl: string): void {
    const headers = { location: `${baseUrl}${this.#base}/${task.id}`, "preference-applied": "respond-async" };
    sendText(answer, stringifyValue(restTask(task, false)), { status: 202, headers });
  }

  async #list(exchange: RestExchange): Promise<void> {
    await this.#tasks.ready({ principal: exchange.http.principal });
    const tasks = this.#tasks.list(exchange.http.principal).map(({ result: _result, ...task }) => task);
    sendValue(exchange.answer, { tasks, total: tasks.length });
  }

  /** Sends the task. With `Accept: text/event-stream`, sends each of its states until the last one. */
  async #show(exchange: RestExchange): Promise<void> {
    const { id } = this.#place(exchange);
    const { principal, query } = exchange.http;
    await this.#tasks.ready({ id, principal });
    const isFull = wantsFull(exchange.http, query);
    const task = this.#tasks.get(id, principal);
    if (!task) return sendFailure(exchange.answer, UNKNOWN);
    if (!exchange.takesEvents || isFinal(task)) return exchange.succeed(restTask(task, isFull), "task");
    const stop = this.#tasks.changed.on(({ task: changed }) => {
      if (changed.id === id && !isFinal(changed)) exchange.event("task", restTask(changed, isFull));
    });
    exchange.event("task", restTask(task, isFull));
    const end = await this.#tasks.ended(id, principal, exchange.signal);
    stop();
    if (end) exchange.succeed(restTask(end, isFull), "task");
  }

  /** Passes answers to the server requests of a task: `{"<key>": {"action": "accept", "content": {…}}}`. */
  async #respond(exchange: RestExchange): Promise<void> {
    const { id, rest } = this.#place(exchange);
    if (rest !== "input") throw new Refusal(404, "There is no such path. Answers are sent to `…/tasks/<id>/input`.");
    const responses = await exchange.readObject("the answers by key");
    if (!Object.values(responses).every(isJsonObject))
      throw new Refusal(400, 'Each answer must be an object, such as {"action": "accept", "content": {}}.');
    const { principal } = exchange.http;
    await this.#tasks.ready({ id, principal });
    if (!this.#tasks.respond(id, principal, responses)) return sendFailure(exchange.answer, UNKNOWN);
    this.#answer(exchange, id);
  }

  async #cancel(exchange: RestExchange): Promise<void> {
    const { id } = this.#place(exchange);
    await this.#tasks.ready({ id, principal: exchange.http.principal });
    if (!this.#tasks.cancel(id, exchange.http.principal)) return sendFailure(exchange.answer, UNKNOWN);
    this.#answer(exchange, id);
  }

  #answer(exchange: RestExchange, id: string): void {
    const task = this.#tasks.get(id, exchange.http.principal);
    if (task) sendValue(exchange.answer, restTask(task, wantsFull(exchange.http, exchange.http.query)));
    else sendFailure(exchange.answer, UNKNOWN);
  }

  #place({ http }: RestExchange): { readonly id: string; readonly rest: string | undefined } {
    const [id = "", rest] = http.path.slice(this.#base.length + 1).split("/");
    return { id, rest };
  }
}

/** Wraps a handler so that a thrown failure becomes the answer: the store of several hubs may be unreachable. */
function answering(handle: (exchange: RestExchange) => Promise<void>): (exchange: RestExchange) => Promise<void> {
  return async (exchange) => {
    try {
      await handle(exchange);
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      sendFailure(exchange.answer, error.failure);
    }
  };
}

const UNKNOWN = fail("unknown_tool", "There is no such task for you. It may have been removed after its time.");

/** Returns a task with its result as a plain value, or in the form of MCP. */
function restTask({ result, ...task }: TaskSnapshot, isFull: boolean): JsonObject {
  if (!result) return { ...task };
  const isError = result["isError"] === true;
  return { ...task, ...(isError && { isError }), result: shown(result, isFull || isError, toolValue) };
}
