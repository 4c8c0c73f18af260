import type { Agent, ClientRequest, IncomingMessage, request as createRequest } from "node:http";
import { codeOf } from "../../core/errors.ts";
import type { HttpExchange } from "../exchange.ts";
import { Forwarding, readAnswerHead, type AnswerHead, type ForwardResult } from "./forwarding.ts";
import { RELAY_PATH } from "./frames/upgrade.ts";
import { RELAY_HEADER } from "./relayed-headers.ts";
import type { SealedRequest } from "./sealed-request.ts";

/** Milliseconds to connect to another hub. */
const CONNECT_TIMEOUT_MS = 2000;
/**
 * Milliseconds after which an unused connection is closed. It is less than `server.idle_timeout`, so that a request is
 * not sent on a connection that the other hub is closing.
 */
const UNUSED_MS = 4000;
/** Maximum number of connections for calls, and of open streams, to one hub. Further calls wait for a connection. */
const MAX_CALLS = 512;
const MAX_STREAMS = 8192;
/** Maximum number of bytes of an answer that is collected and sent in one piece. */
const MAX_WHOLE_BYTES = 256 * 1024;

interface HttpModule {
  readonly request: typeof createRequest;
  readonly Agent: typeof Agent;
}

/**
 * Passes each request to another hub as a separate HTTP request. Used for large requests, and for all requests to a hub
 * that refuses connections for frames, for example behind a proxy that does not support upgrades.
 */
export class HttpTransport {
  readonly #agents = new Map<string, Agent>();

  /** Passes a request to the hub at `url`, unless its caller has disconnected. The answer goes to the caller. */
  forward(http: HttpExchange, url: string, { bytes, code }: SealedRequest): Promise<ForwardResult> {
    const isStream = http.method === "GET";
    const request = moduleFor(url).request(`${url}${RELAY_PATH}`, {
      method: "POST",
      agent: this.#agentFor(url, isStream),
      headers: {
        "content-type": "application/octet-stream",
        "content-length": bytes.length,
        [RELAY_HEADER]: code,
      },
    });
    const forwarding = new Forwarding(http, () => request.destroy());
    request.on("response", (response: IncomingMessage) => receive(response, forwarding));
    const connecting = watchConnecting(request);
    request.on("error", (error) => forwarding.fail(connecting.isOver ? "lost" : unsentResult(codeOf(error))));
    request.end(bytes);
    return forwarding.result;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #agentFor(url: string, isStream: boolean): Agent {
    const key = `${new URL(url).protocol}${isStream ? "streams" : "calls"}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      const maxSockets = isStream ? MAX_STREAMS : MAX_CALLS;
      agent = new (moduleFor(url).Agent)({
        keepAlive: true,
        timeout: UNUSED_MS,
        maxSockets,
        maxFreeSockets: MAX_CALLS,
      });
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

/** Returns the result of a request without a connection. If it was refused, no program listens at the address. */
function unsentResult(code: string | undefined): "gone" | "unsent" {
  return code === "ECONNREFUSED" ? "gone" : "unsent";
}

function moduleFor(url: string): HttpModule {
  return process.getBuiltinModule(url.startsWith("https:") ? "node:https" : "node:http");
}

/**
 * Fails a request if its connection is not established in time. `isOver` becomes true when the request may be sent:
 * with TLS, after the handshake.
 */
function watchConnecting(request: ClientRequest): { readonly isOver: boolean } {
  const state = { isOver: false };
  request.on("socket", (socket) => {
    if (request.reusedSocket || !socket.connecting) return void (state.isOver = true);
    socket.once(request.protocol === "https:" ? "secureConnect" : "connect", () => (state.isOver = true));
    const timer = setTimeout(() => {
      request.destroy(Object.assign(new Error("The other hub did not accept the connection."), { code: "ETIMEDOUT" }));
    }, CONNECT_TIMEOUT_MS);
    socket.once("connect", () => clearTimeout(timer));
    socket.once("close", () => clearTimeout(timer));
  });
  return state;
}

function receive(response: IncomingMessage, forwarding: Forwarding): void {
  const { statusCode = 502, headers } = response;
  const head = readAnswerHead(statusCode, headers);
  if (!forwarding.begin(head)) return void response.resume();
  response.on("error", () => forwarding.fail("lost"));
  const length = headers["content-length"];
  if (length !== undefined && Number(length) <= MAX_WHOLE_BYTES) receiveWhole(response, forwarding, head);
  else receivePieces(response, forwarding, head);
}

function receiveWhole(response: IncomingMessage, forwarding: Forwarding, head: AnswerHead): void {
  const pieces: Buffer[] = [];
  response.on("data", (piece: Buffer) => pieces.push(piece));
  response.on("end", () => forwarding.send(head, pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
}

function receivePieces(response: IncomingMessage, forwarding: Forwarding, head: AnswerHead): void {
  const { answer } = forwarding.http;
  forwarding.open(head);
  answer.onDrained(() => response.resume());
  response.on("data", (piece: Buffer) => {
    if (!answer.write(piece)) response.pause();
  });
  response.on("end", () => forwarding.end());
}
