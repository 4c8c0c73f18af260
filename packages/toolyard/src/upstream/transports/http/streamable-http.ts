import { parseExact, stringifyExact } from "../../../core/json/exact-json.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Cancellation } from "../../../core/calls/cancellation.ts";
import type { FailError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { headersOfContext } from "../../../core/trace-context.ts";
import { within } from "../../../core/timing/wait.ts";
import { claimsModernEra, isModernRevision } from "../../../wire/modern/envelope.ts";
import { HEADERS, standardHeaders } from "../../../wire/modern/headers.ts";
import { findParamHeaders, paramHeaders, type ParamHeader } from "../../../wire/modern/param-headers.ts";
import { classifyMessage, type RpcMessage, type RpcRequest } from "../../../wire/messages.ts";
import { withoutByteOrderMark } from "../../../wire/parse-json.ts";
import type { SendOptions, Transport, TransportHandlers } from "../transport.ts";
import { discard, readRefusal, readText } from "../../../outbound/client/body.ts";
import type { HttpResponse } from "../../../outbound/client/sender.ts";
import { httpFailure } from "../../../outbound/client/server-failures.ts";
import { toStatusFailure } from "./status-failure.ts";
import {
  EVENT_STREAM_TYPE,
  HttpConnection,
  JSON_TYPE,
  mediaType,
  type HttpConnectionOptions,
} from "./http-connection.ts";
import { answers, ResponseStream, type StreamResumption } from "./response-stream.ts";
import { saysSessionLost } from "./session-loss.ts";
import { ServerStream } from "./server-stream.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/** Maximum wait for answers of requests in flight after a lost session, from the last refusal. */
const SESSION_END_GRACE_MS = 2000;
const DELETE_TIMEOUT_MS = 2000;
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/**
 * Streamable HTTP of both eras: each message is a POST, answered with JSON or with its own stream. The legacy era may
 * have a session, a standing stream, and streams that are resumed. In the modern era, requests are independent.
 */
export class StreamableHttpTransport implements Transport {
  readonly perRequestStreams = true;
  readonly mirrorsParams = true;
  readonly #connection: HttpConnection;
  /** Number of posted messages whose response headers have not arrived. */
  #unanswered = 0;
  #onAllAnswered: (() => void) | undefined;
  /** Parameters to repeat in headers, by schema. A listing's schemas are the same objects until it is read again. */
  readonly #paramHeaders = new WeakMap<JsonObject, readonly ParamHeader[]>();
  readonly #resuming: StreamResumption = {
    headers: () => this.#sessionHeaders(),
    refused: (status, body) => this.#lossIn(status, body),
  };
  #version: string | undefined;
  #sessionId: string | undefined;
  /**
   * Cached headers for messages that need only the headers of the session. The same object until the session changes.
   */
  #postHeaders: Readonly<Record<string, string>> | undefined;
  #isSessionLost = false;
  /** Number of requests that were refused because of the lost session. */
  #refusals = 0;
  /** Number of answered requests. */
  #answers = 0;

  constructor(options: HttpConnectionOptions) {
    this.#connection = new HttpConnection(options);
  }

  get sessionful(): boolean {
    return this.#sessionId !== undefined;
  }

  describe(): JsonObject {
    return { endpoint: this.#connection.options.client.endpoint, framing: "streamable-http" };
  }

  async open(handlers: TransportHandlers): Promise<void> {
    this.#connection.open(handlers);
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
    this.#postHeaders = undefined;
  }

  async send(message: RpcMessage, options: SendOptions = {}): Promise<void> {
    if (this.#isSessionLost) throw this.#sessionFailure({ sent: false });
    const { signal, done } = this.#connection.begin(options.signal);
    try {
      let response: HttpResponse;
      this.#unanswered += 1;
      try {
        response = await this.#post(message, options, signal);
      } finally {
        this.#unanswered -= 1;
        if (this.#unanswered === 0) this.#onAllAnswered?.();
      }
      const asked = "method" in message && "id" in message ? message : undefined;
      const posted = { options, signal };
      if (response.status < 200 || response.status > 299) return await this.#onRefusal(asked, response, posted);
      if (!asked) return this.#onTaken(message, response);
      if (asked.method === "initialize") this.#startSession(response);
      if (mediaType(response.header("content-type")) === EVENT_STREAM_TYPE)
        await this.#streamFor(asked, options).read(response.body, signal);
      else await this.#readJson(asked, response, posted);
      this.#answers += 1;
    } finally {
      done();
    }
  }

  /** Closes the connection. Also ends the session on the server, if that succeeds in time. */
  async close(): Promise<void> {
    const wasOpen = !this.#connection.isOver;
    this.#connection.close();
    if (!wasOpen || this.#sessionId === undefined || this.#isSessionLost) return;
    const { client, caller } = this.#connection.options;
    try {
      const signal = AbortSignal.timeout(DELETE_TIMEOUT_MS);
      const ending = { method: "DELETE", headers: this.#sessionHeaders(), signal, idleMs: DELETE_TIMEOUT_MS } as const;
      discard((await client.request({ ...ending, caller })).body);
    } catch {
      // The error is ignored: if the server is unreachable, its session cannot be ended.
    }
  }

  #post(message: RpcMessage, options: SendOptions, signal: Cancellation): Promise<HttpResponse> {
    const { client, caller } = this.#connection.options;
    const context = "params" in message ? headersOfContext(message.params) : undefined;
    const headers = this.#headersOf(message, options);
    return client.request({
      method: "POST",
      headers: context ? { ...headers, ...context } : headers,
      body: stringifyExact(message),
      signal,
      idleMs: this.#idleMs(options),
      caller: options.caller ?? caller,
      isMessage: !("method" in message && "id" in message),
    });
  }

  #idleMs(options: SendOptions): number {
    return options.longLived ? 0 : (options.idleMs ?? this.#connection.options.idleMs);
  }

  #headersOf(message: RpcMessage, { inputSchema }: SendOptions): Readonly<Record<string, string>> {
    if (!("method" in message)) return this.#sessionHeadersToPost();
    const { method, params } = message;
    const isModern = claimsModernEra(params);
    // The headers of the modern era are sent too, because the server may be a modern one, which requires the method in
    // a header.
    if (method === "initialize" && !isModern) return headersToPost([standardHeaders(method, undefined)]);
    if (!isModern && !isModernRevision(this.#version)) return this.#sessionHeadersToPost();
    const found = inputSchema ? this.#paramHeadersOf(inputSchema) : NO_PARAM_HEADERS;
    const args = params?.["arguments"];
    const headers = [this.#sessionHeaders(), standardHeaders(method, params)];
    if (found.length > 0 && typeof args === "object" && args !== null)
      headers.push(paramHeaders(found, args as JsonObject));
    return headersToPost(headers);
  }

  #sessionHeadersToPost(): Readonly<Record<string, string>> {
    return (this.#postHeaders ??= headersToPost([this.#sessionHeaders()]));
  }

  #paramHeadersOf(inputSchema: JsonObject): readonly ParamHeader[] {
    const known = this.#paramHeaders.get(inputSchema);
    if (known) return known;
    const { headers } = findParamHeaders(inputSchema);
    this.#paramHeaders.set(inputSchema, headers);
    return headers;
  }

  #sessionHeaders(): Record<string, string> {
    const headers: Record<string, string> = {};
    if (this.#version !== undefined) headers["mcp-protocol-version"] = this.#version;
    if (this.#sessionId !== undefined) headers["mcp-session-id"] = this.#sessionId;
    return headers;
  }

  /** Discards the response to a message that needs no answer. */
  #onTaken(message: RpcMessage, response: HttpResponse): void {
    discard(response.body);
    if ("method" in message && message.method === "notifications/initialized") this.#openStandingStream();
  }

  #streamFor(request: RpcRequest, options: SendOptions): ResponseStream {
    const isResumable = !isModernRevision(this.#version) && !claimsModernEra(request.params);
    return new ResponseStream(this.#connection, request.id, {
      idleMs: this.#idleMs(options),
      caller: options.caller ?? this.#connection.options.caller,
      resuming: isResumable ? this.#resuming : undefined,
      lossIn: (data) => this.#lossIn(200, data, options),
    });
  }

  async #readJson(request: RpcRequest, response: HttpResponse, { options, signal }: PostContext): Promise<void> {
    const { client, maxMessageBytes } = this.#connection.options;
    if (mediaType(response.header("content-type")) !== JSON_TYPE)
      return this.#onOtherType(response, { options, signal });
    const text = await readText(response.body, { place: client.place, maxBytes: maxMessageBytes, signal });
    const lost = this.#lossIn(response.status, text, options);
    if (lost) throw lost;
    const value = this.#connection.receive(text, request.id);
    if (!answers(value, request.id))
      throw httpFailure("malformed", {
        place: client.place,
        what: "answered with JSON that does not answer the request.",
      });
  }

  async #onOtherType(response: HttpResponse, { options, signal }: PostContext): Promise<never> {
    const { place } = this.#connection.options.client;
    const type = mediaType(response.header("content-type"));
    const body = await readRefusal(response.body, place, signal);
    const what =
      `answered with ${type === "" ? "no content type" : `\`${firstChars(type, 100)}\``} instead of JSON ` +
      "or an event stream. Check that `url` points to an MCP server.";
    throw (
      this.#lossIn(response.status, body, options) ??
      httpFailure("malformed", { place, what }, { details: { status: response.status } })
    );
  }

  // A refusal may contain the answer, because the modern era maps error codes to HTTP statuses.
  async #onRefusal(
    request: RpcRequest | undefined,
    response: HttpResponse,
    { options, signal }: PostContext,
  ): Promise<void> {
    const { place } = this.#connection.options.client;
    const { status } = response;
    const body = await readRefusal(response.body, place, signal);
    const lost = this.#lossIn(status, body, options);
    if (lost) throw lost;
    const failure = toStatusFailure(response, place, body);
    const isStatusTheAnswer =
      failure.failure.kind === "needs_authorisation" || failure.failure.retryAfterMs !== undefined || status === 429;
    if (!request || isStatusTheAnswer || !isReplyTo(body, request)) throw failure;
    this.#connection.receive(body, request.id);
  }

  #startSession(response: HttpResponse): void {
    const sessionId = response.header("mcp-session-id");
    if (sessionId === undefined) return;
    if (SESSION_ID.test(sessionId)) {
      this.#sessionId = sessionId;
      this.#postHeaders = undefined;
      return;
    }
    throw httpFailure("malformed", {
      place: this.#connection.options.client.place,
      what: "sent a session id that is not visible ASCII text.",
    });
  }

  #openStandingStream(): void {
    if (isModernRevision(this.#version)) return;
    const answers = (): number => this.#answers;
    const stream = new ServerStream(this.#connection, {
      get answers() {
        return answers();
      },
      headers: () => this.#sessionHeaders(),
      isSessionLost: (status, body) => this.#isLoss(status, body),
      onSessionLost: () => void this.#loseSession(),
    });
    void stream.run();
  }

  /** Returns the failure for an answer that means a lost session, and ends the connection. */
  #lossIn(status: number, body: string, options?: SendOptions): FailError | undefined {
    if (options?.afterLoss || !this.#isLoss(status, body)) return undefined;
    // Without `options`, the server refused to resume the stream of a request that it had accepted, so that request
    // counts as sent.
    return this.#loseSession(options ? { sent: false } : {});
  }

  /**
   * Returns whether a refusal means a lost session. Before `initialize` is answered, and in the modern era, there is no
   * session.
   */
  #isLoss(status: number, body: string): boolean {
    if (this.#version === undefined || isModernRevision(this.#version)) return false;
    return saysSessionLost({ status, body, hasSession: this.#sessionId !== undefined });
  }

  /** Ends the connection. Requests in flight may first fail as never started, so that they can be sent again. */
  #loseSession(details: JsonObject = {}): FailError {
    this.#refusals += 1;
    if (!this.#isSessionLost) {
      this.#isSessionLost = true;
      void this.#endSoon();
    }
    return this.#sessionFailure(details);
  }

  async #endSoon(): Promise<void> {
    let seen;
    do {
      seen = this.#refusals;
      await within(this.#allAnswered(), SESSION_END_GRACE_MS, { keepsAlive: false });
    } while (this.#unanswered > 0 && this.#refusals > seen);
    // Waits another turn of the event loop, so that refused requests fail before the connection ends.
    await nextTurn();
    this.#connection.fail(this.#sessionFailure());
  }

  /** Resolves when all posts are answered. After a lost session, nothing more is posted. */
  #allAnswered(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAllAnswered = resolve;
      if (this.#unanswered === 0) resolve();
    });
  }

  #sessionFailure(details: JsonObject = {}): FailError {
    const what = "does not know this session any more, as after a restart. A new one is opened; try again.";
    return httpFailure(
      "unavailable",
      { place: this.#connection.options.client.place, what },
      {
        details: { sessionLost: true, ...details },
      },
    );
  }
}

/** Options and signal of a posted message. */
interface PostContext {
  readonly options: SendOptions;
  readonly signal: Cancellation;
}

function isReplyTo(body: string, request: RpcRequest): boolean {
  try {
    const value = parseExact(withoutByteOrderMark(body));
    return answers(value, request.id) && classifyMessage(value).type === "reply";
  } catch {
    return false;
  }
}

/** Merges the headers of a message under names in lower case. Later ones override earlier ones. */
function headersToPost(all: readonly Readonly<Record<string, string>>[]): Readonly<Record<string, string>> {
  const to: Record<string, string> = {};
  for (const headers of all)
    for (const name in headers) to[LOWER_CASE.get(name) ?? name.toLowerCase()] = headers[name]!;
  to["content-type"] = JSON_TYPE;
  to["accept"] = ACCEPTED_TYPES;
  return to;
}

/** Header names that each request has, in lower case. */
const LOWER_CASE: ReadonlyMap<string, string> = new Map(
  Object.values(HEADERS).map((name) => [name, name.toLowerCase()]),
);

const ACCEPTED_TYPES = `${JSON_TYPE}, ${EVENT_STREAM_TYPE}`;
const NO_PARAM_HEADERS: readonly ParamHeader[] = [];
