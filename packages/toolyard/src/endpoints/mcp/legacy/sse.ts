import type { ToolMode } from "../../../core/calls/call.ts";
import { callerKey } from "../../../core/ports/profiles.ts";
import { randomBytes } from "node:crypto";
import { connectionId } from "../../../core/calls/connection-id.ts";
import { Shares, type Holder } from "../../../core/fairness/shares.ts";
import type { EventStream } from "../../../http/answer/event-stream.ts";
import { isJsonContent } from "../../../http/request/json-content.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { refuseStoreLost } from "../refuse-store-lost.ts";
import { sendText } from "../../../http/answer/send.ts";
import { MESSAGES_PATH } from "../../paths.ts";
import { withToolNames } from "../../tool-names.ts";
import type { LegacyExchange } from "./exchange.ts";
import { batchProblem, FULL, sendProblem, SESSION_NOT_FOUND } from "./http-checks.ts";
import type { Outlet } from "./outlet.ts";
import { LegacySession, type SessionDeps } from "./session.ts";

/** Prefix of the ids of streams in the directory of parked calls. */
const SSE_ID = "sse-";

interface SseConnection {
  readonly session: LegacySession;
  readonly stream: EventStream;
  /** Tool mode that the request for the stream selected. */
  readonly mode: ToolMode | undefined;
  readonly owner: Holder;
}

/**
 * HTTP+SSE of 2024-11-05. `GET /sse` opens the stream with all messages to the client, which names the address for
 * posts. The session lives as long as the stream.
 */
export class LegacySse {
  readonly #deps: SessionDeps;
  readonly #connections = new Map<string, SseConnection>();
  readonly #shares = new Shares();
  #closing: AbortSignal | undefined;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#connections.size;
  }

  open({ http, principal, head }: LegacyExchange): void {
    const owner: Holder = { principal: http.principal.id };
    if (!this.#hasRoomFor(owner)) return sendProblem(http.answer, FULL);
    const id = randomBytes(16).toString("hex");
    const stream = http.openLastingStream();
    const session = new LegacySession(this.#deps, {
      connection: connectionId(),
      endpoint: "mcp-sse",
      principal,
      outlet: streamOutlet(stream),
    });
    this.#connections.set(id, { session, stream, mode: head.mode, owner });
    this.#shares.add(owner);
    const stored = this.#deps.remote && this.#deps.state.parked.put(`${SSE_ID}${id}`);
    stream.onClosed(() => this.#end(id));
    this.#endStreamsOn(http.closing);
    const address = `${new URL(http.baseUrl).pathname.replace(/\/$/, "")}${MESSAGES_PATH}?sessionId=${id}`;
    const name = (): void => stream.send(address, { event: "endpoint" });
    if (stored) void stored.then(name);
    else name();
  }

  /** Handles one message or a batch. The answers are sent on the stream, which another hub may hold. */
  post({ http, ...exchange }: LegacyExchange, body: unknown): void | Promise<void> {
    const id = http.query.get("sessionId") ?? "";
    const connection = this.#connections.get(id);
    if (!connection) return this.#withoutLocal(http, id, body);
    if (callerKey(connection.session.principal) !== callerKey(http.principal))
      return sendProblem(http.answer, SESSION_NOT_FOUND);
    if (!isJsonContent(http.header("content-type")))
      return sendText(http.answer, 400, "Unsupported content-type: send application/json");
    const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
    const problem = batchProblem(messages);
    if (problem) return sendProblem(http.answer, problem);
    sendText(http.answer, 202, "Accepted");
    const mode = exchange.head.mode ?? connection.mode;
    const received = {
      outlet: streamOutlet(connection.stream),
      principal: withToolNames(
        exchange.principal,
        exchange.principal.toolNames ?? connection.session.principal.toolNames ?? "mcp",
      ),
      ...(mode ? { mode } : {}),
    };
    const work = messages.map((message) => connection.session.receive(message, received));
    void Promise.all(work).then(() => this.#endIfClosing(id));
  }

  #withoutLocal(http: HttpExchange, id: string, body: unknown): void | Promise<void> {
    if (!this.#deps.remote || http.relayedFrom !== undefined) return sendProblem(http.answer, SESSION_NOT_FOUND);
    return this.#pass(http, `${SSE_ID}${id}`, stringifyExact(body));
  }

  /** Passes a message to the hub that holds the stream. */
  async #pass(http: HttpExchange, id: string, body: string): Promise<void> {
    try {
      const holder = await this.#deps.state.parked.find(id);
      const isPassed =
        holder?.isAlive === true &&
        holder.hub !== this.#deps.state.hub &&
        (await this.#deps.remote!.relay.forward(holder.hub, { http, body })) === "answered";
      if (!isPassed) sendProblem(http.answer, SESSION_NOT_FOUND);
    } catch (error) {
      refuseStoreLost(error, http.answer);
    }
  }

  /** Ends all connections and answers running requests with an error. */
  close(): void {
    for (const [id, { stream }] of Array.from(this.#connections)) {
      this.#end(id);
      stream.end();
    }
  }

  // All streams share one listener of the abort signal, because there may be thousands of streams.
  #endStreamsOn(closing: AbortSignal): void {
    if (this.#closing === closing) return;
    this.#closing = closing;
    closing.addEventListener("abort", () => {
      for (const id of Array.from(this.#connections.keys())) this.#endIfClosing(id);
    });
  }

  /** Ends a connection when all its requests are answered, if the listener is closing. */
  #endIfClosing(id: string): void {
    const connection = this.#connections.get(id);
    if (this.#closing?.aborted && connection && !connection.session.busy) connection.stream.end();
  }

  /**
   * Returns true if there is room for a connection. At the limit, closes the oldest connection of the principal that
   * exceeds its share.
   */
  #hasRoomFor(newcomer: Holder): boolean {
    if (this.#connections.size < this.#deps.options.maxSessions) return true;
    const oldest = this.#shares.debtorTo(newcomer, this.#connections, { holder: ([, { owner }]) => owner });
    if (!oldest) return false;
    const [id, { stream }] = oldest;
    this.#end(id);
    stream.end();
    return true;
  }

  #end(id: string): void {
    const connection = this.#connections.get(id);
    if (!connection) return;
    this.#connections.delete(id);
    this.#shares.remove(connection.owner);
    if (this.#deps.remote) this.#deps.state.parked.remove(`${SSE_ID}${id}`);
    connection.session.close();
  }
}

function streamOutlet(stream: EventStream): Outlet {
  return {
    isShared: true,
    get reachable() {
      return stream.isOpen;
    },
    reply: (text) => stream.send(text),
    note: (text) => stream.send(text),
  };
}
