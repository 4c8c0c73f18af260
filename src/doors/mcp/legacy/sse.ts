import { randomBytes } from "node:crypto";
import type { EventStream } from "../../../http/event-stream.ts";
import { sendText } from "../../../http/refusal.ts";
import type { LegacyExchange } from "./exchange.ts";
import { FULL, isJson, sendProblem, SESSION_NOT_FOUND } from "./http-checks.ts";
import type { Outlet } from "./outlet.ts";
import { LegacySession, type SessionDeps } from "./session.ts";

interface Connection {
  readonly session: LegacySession;
  readonly stream: EventStream;
}

/**
 * HTTP+SSE of 2024-11-05: `GET /sse` opens the stream that carries everything to the client and names the address to post to. The
 * session lives as long as the stream.
 */
export class LegacySse {
  readonly #deps: SessionDeps;
  readonly #messagesPath: string;
  readonly #connections = new Map<string, Connection>();

  /** `messagesPath`, below the base path, is where `post` is mounted. */
  constructor(deps: SessionDeps, messagesPath = "/messages") {
    this.#deps = deps;
    this.#messagesPath = messagesPath;
  }

  get size(): number {
    return this.#connections.size;
  }

  open({ response, context, mode }: LegacyExchange): void {
    if (this.#connections.size >= this.#deps.options.maxSessions) return sendProblem(response, FULL);
    const id = randomBytes(16).toString("hex");
    const stream = context.openStream();
    const deps: SessionDeps = mode ? { ...this.#deps, defaultMode: mode } : this.#deps;
    const session = new LegacySession(deps, { connection: id, door: "mcp-sse", principal: context.principal, outlet: streamOutlet(stream) });
    this.#connections.set(id, { session, stream });
    stream.onClosed(() => this.#end(id));
    context.closing.addEventListener("abort", () => stream.end(), { once: true });
    stream.send(`${new URL(context.baseUrl).pathname.replace(/\/$/, "")}${this.#messagesPath}?sessionId=${id}`, { event: "endpoint" });
  }

  /** Takes one message, or a batch; its answers come on the stream. */
  post({ request, response, context, mode }: LegacyExchange, body: unknown): void {
    const connection = this.#connections.get(context.query.get("sessionId") ?? "");
    if (!connection || connection.session.principal.id !== context.principal.id) return sendProblem(response, SESSION_NOT_FOUND);
    if (!isJson(request.headers["content-type"])) return sendText(response, 400, "Unsupported content-type: send application/json");
    sendText(response, 202, "Accepted");
    const received = { outlet: streamOutlet(connection.stream), principal: context.principal, ...(mode ? { mode } : {}) };
    for (const message of Array.isArray(body) ? body : [body]) void connection.session.receive(message, received);
  }

  /** Ends every connection; what is still running is answered with an error. */
  close(): void {
    for (const [id, { stream }] of Array.from(this.#connections)) {
      this.#end(id);
      stream.end();
    }
  }

  #end(id: string): void {
    this.#connections.get(id)?.session.close();
    this.#connections.delete(id);
  }
}

function streamOutlet(stream: EventStream): Outlet {
  return {
    get reachable() {
      return stream.isOpen;
    },
    reply: (text) => stream.send(text),
    note: (text) => stream.send(text),
  };
}
