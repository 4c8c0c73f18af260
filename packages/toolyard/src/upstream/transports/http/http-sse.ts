import { headersOfContext } from "../../../core/trace-context.ts";
import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { Cancellation } from "../../../core/calls/cancellation.ts";
import { FailError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { RpcMessage } from "../../../wire/messages.ts";
import type { SendOptions, Transport, TransportHandlers } from "../transport.ts";
import { discard, readRefusal } from "../../../outbound/client/body.ts";
import { readEvents } from "./events.ts";
import type { HttpResponse } from "../../../outbound/client/sender.ts";
import { httpFailure } from "../../../outbound/client/server-failures.ts";
import { toStatusFailure } from "./status-failure.ts";
import {
  EVENT_STREAM_TYPE,
  HttpConnection,
  JSON_TYPE,
  mediaType,
  type HttpConnectionOptions,
  type ConnectionTask,
} from "./http-connection.ts";
import { saysSessionLost } from "./session-loss.ts";

/** Maximum time for the server to name the endpoint after its stream has opened. */
const ENDPOINT_TIMEOUT_MS = 10_000;

/**
 * HTTP+SSE of 2024-11-05. One GET stream carries all messages from the server, and names the address to which messages
 * are posted. The connection ends when the stream ends.
 */
export class HttpSseTransport implements Transport {
  readonly perRequestStreams = false;
  readonly mirrorsParams = false;
  readonly sessionful = true;
  readonly #connection: HttpConnection;
  #version: string | undefined;
  #endpoint: URL | undefined;

  constructor(options: HttpConnectionOptions) {
    this.#connection = new HttpConnection(options);
  }

  describe(): JsonObject {
    return { endpoint: this.#connection.options.client.endpoint, framing: "http+sse" };
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  async open(handlers: TransportHandlers, signal?: Cancellation): Promise<void> {
    this.#connection.open(handlers);
    const opening = this.#connection.begin(signal);
    try {
      const stream = this.#connection.begin();
      const abortStream = (): void => stream.abort(opening.signal.reason);
      opening.signal.addEventListener("abort", abortStream, { once: true });
      const response = await this.#openStream(stream.signal);
      await this.#readEndpoint(response, stream);
      opening.signal.removeEventListener("abort", abortStream);
    } catch (error) {
      this.#connection.close();
      throw error;
    } finally {
      opening.done();
    }
  }

  async send(message: RpcMessage, options: SendOptions = {}): Promise<void> {
    const { client, idleMs, caller } = this.#connection.options;
    const { place } = client;
    if (!this.#endpoint || this.#connection.isOver)
      throw httpFailure("unavailable", { place, what: "is not connected any more." }, { details: { sent: false } });
    // The caller's signal is not passed: it cancels only the wait for the answer, which arrives on the stream, and a
    // running POST is completed.
    const { signal, done } = this.#connection.begin();
    try {
      const context = "params" in message ? headersOfContext(message.params) : undefined;
      const headers = { ...this.#versionHeader(), ...context, "content-type": JSON_TYPE, accept: "*/*" };
      const body = stringifyExact(message);
      const response = await client.request({
        method: "POST",
        url: this.#endpoint,
        headers,
        body,
        signal,
        idleMs: options.idleMs ?? idleMs,
        caller: options.caller ?? caller,
        isMessage: !("method" in message && "id" in message),
      });
      if (response.status >= 200 && response.status <= 299) return discard(response.body);
      const text = await readRefusal(response.body, place, signal);
      const failure = toStatusFailure(response, place);
      if (saysSessionLost({ status: response.status, body: text, hasSession: true })) this.#loseSession(failure);
      throw failure;
    } finally {
      done();
    }
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  // The connection is closed one turn later, because the refused message must first fail with its own failure: it was
  // not sent.
  #loseSession(failure: FailError): void {
    setImmediate(() => {
      const { sent: _, ...details } = failure.failure.details ?? {};
      this.#connection.fail(new FailError({ ...failure.failure, details: { ...details, sessionLost: true } }));
    });
  }

  #versionHeader(): Record<string, string> {
    return this.#version === undefined ? {} : { "mcp-protocol-version": this.#version };
  }

  async #openStream(signal: Cancellation): Promise<HttpResponse> {
    const { client, caller } = this.#connection.options;
    const opening = { method: "GET", headers: { accept: EVENT_STREAM_TYPE }, signal, idleMs: 0, caller } as const;
    const response = await client.request(opening);
    if (response.status === 200 && mediaType(response.header("content-type")) === EVENT_STREAM_TYPE) return response;
    discard(response.body);
    if (response.status < 200 || response.status > 299) throw toStatusFailure(response, client.place);
    throw httpFailure(
      "malformed",
      { place: client.place, what: "opened no event stream. Check that `url` points to an MCP server." },
      {
        details: { status: response.status },
      },
    );
  }

  /** Waits for the address to which messages are posted. The stream is read until it ends. */
  #readEndpoint(response: HttpResponse, stream: ConnectionTask): Promise<void> {
    const { client, maxMessageBytes } = this.#connection.options;
    const { place } = client;
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () =>
          stream.abort(httpFailure("timeout", { place, what: "opened a stream and named no endpoint to post to." })),
        ENDPOINT_TIMEOUT_MS,
      );
      const onEvent = (event: { event: string; data: string }): void => {
        if (event.event === "endpoint" && !this.#endpoint) {
          clearTimeout(late);
          // The address is read immediately, because the end of the stream may arrive in the same chunk.
          this.#endpoint = this.#checkedEndpoint(event.data);
          return resolve();
        }
        if (event.event === "message" && event.data !== "") this.#connection.receive(event.data);
      };
      const onEnd = (error: unknown): void => {
        clearTimeout(late);
        stream.done();
        const failure =
          error instanceof FailError ? error : httpFailure("unavailable", { place, what: "closed its event stream." });
        reject(failure);
        if (this.#endpoint) this.#connection.fail(failure);
      };
      const bounds = { place, maxBytes: maxMessageBytes, signal: stream.signal };
      readEvents(response.body, bounds, { onEvent, onEnd });
    });
  }

  // Returns the address if it is on the configured server. Throws for any other address, because requests contain
  // credentials.
  #checkedEndpoint(text: string): URL {
    const { client } = this.#connection.options;
    const url = URL.canParse(text, client.url.href) ? new URL(text, client.url) : undefined;
    if (url !== undefined && url.origin === client.url.origin) return url;
    throw httpFailure("malformed", {
      place: client.place,
      what: "named an endpoint that is not its own. Messages are posted to the configured server only.",
    });
  }
}
