import type { Agent, ClientRequest, IncomingMessage, request as createRequest } from "node:http";
import { codeOf } from "../../core/errors.ts";
import { FRAME } from "../adapters/workers/frames.ts";
import type { HttpExchange } from "../exchange.ts";
import { Forwarding, readAnswerHead, unreadResult, type AnswerSource, type ForwardResult } from "./forwarding.ts";
import { CONNECT_TIMEOUT_MS } from "./frames/open-socket.ts";
import { RELAY_PATH } from "./frames/upgrade.ts";
import { RELAY_HEADER, RELAYED } from "./relayed-headers.ts";
import type { SealedRequest } from "./sealed-request.ts";
import { SignedAnswerReader } from "./signed-answer.ts";

/**
 * Milliseconds after which an unused connection is closed. It is less than `server.idle_timeout`, so that a request is
 * not sent on a connection that the other hub is closing.
 */
const UNUSED_MS = 4000;
/** Maximum number of connections for calls, and of open streams, to one hub. Further calls wait for a connection. */
const MAX_CALLS = 512;
const MAX_STREAMS = 8192;
/** Number of bytes that the caller has not read, at which this hub stops reading the answer. */
const MAX_UNREAD_BYTES = 256 * 1024;

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
  readonly #keyOf: (code: string) => Buffer;

  /** `keyOf` returns the key of the answer to the request with a code. */
  constructor(keyOf: (code: string) => Buffer) {
    this.#keyOf = keyOf;
  }

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
    request.on("response", (response: IncomingMessage) => receive(response, forwarding, this.#keyOf(code)));
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

/** Passes the answer in a response to the caller. Only an answer with the right codes is passed. */
function receive(response: IncomingMessage, forwarding: Forwarding, key: Buffer): void {
  response.on("error", () => forwarding.fail("lost"));
  if (response.headers[RELAY_HEADER] !== RELAYED.signed) {
    response.resume();
    return forwarding.fail(unreadResult(response.statusCode ?? 502));
  }
  const reader = new SignedAnswerReader(key);
  let unreadBytes = 0;
  const source: AnswerSource = {
    readHead: readAnswerHead,
    gone: () => response.destroy(),
    taken: (_, bytes) => {
      unreadBytes -= bytes;
      if (unreadBytes < MAX_UNREAD_BYTES) response.resume();
    },
  };
  response.on("data", (chunk: Buffer) => {
    try {
      for (const frame of reader.read(chunk)) {
        if (frame.type === FRAME.piece) unreadBytes += frame.body.length;
        forwarding.receive(frame, source);
      }
    } catch {
      // After an invalid record, no later byte of the response can be trusted.
      forwarding.fail("lost");
      response.destroy();
    }
    if (unreadBytes >= MAX_UNREAD_BYTES) response.pause();
  });
  // Has no effect if the last frame has arrived.
  response.on("end", () => forwarding.fail("lost"));
}
