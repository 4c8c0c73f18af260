import type { ToolMode } from "../../packages/toolyard/src/core/calls/call.ts";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER, type Logger } from "../../packages/toolyard/src/core/ports/ports.ts";
import { McpHttpEndpoint, type McpHttpParts } from "../../packages/toolyard/src/endpoints/mcp/http-endpoint.ts";
import { ModernEndpoint } from "../../packages/toolyard/src/endpoints/mcp/modern/endpoint.ts";
import { resolveMcpEndpoint, type McpEndpointConfig } from "../../packages/toolyard/src/endpoints/mcp/options.ts";
import type { Listener } from "../../packages/toolyard/src/http/listening/listener.ts";
import { resolveHttp, type HttpConfig } from "../../packages/toolyard/src/http/options.ts";
import { META } from "../../packages/toolyard/src/wire/modern/envelope.ts";
import { SseDecoder } from "../../packages/toolyard/src/wire/sse.ts";
import type { HubState } from "../../packages/toolyard/src/state/ports/store.ts";
import { HubStandIn } from "../fixtures/hub-stand-in.ts";
import { createTestState } from "../fixtures/mcp-endpoint.ts";
import { createTestListener } from "./test-listener.ts";

export const REVISION = "2026-07-28";

export interface Settings {
  readonly http?: HttpConfig;
  readonly endpoint?: McpEndpointConfig;
  readonly legacy?: McpHttpParts["legacy"];
  readonly logger?: Logger;
  readonly defaultMode?: ToolMode;
  /** @default a separate state in memory */
  readonly state?: HubState;
}

/** An HTTP response in any form: `messages` has all JSON-RPC messages in order, `last` is the reply. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly messages: readonly JsonObject[];
  readonly last: JsonObject;
}

/** The modern endpoint on its own listener, in front of a replacement hub. */
export class ModernServer implements AsyncDisposable {
  readonly hub = new HubStandIn();
  readonly endpoint: ModernEndpoint;
  readonly listener: Listener;
  url = "";

  private constructor(settings: Settings) {
    const { modern: options, pageSize, toolMode } = resolveMcpEndpoint(settings.endpoint);
    const http = resolveHttp({ port: 0, shutdown_grace: 500, ...settings.http });
    this.endpoint = new ModernEndpoint({
      hub: this.hub,
      logger: settings.logger ?? SILENT_LOGGER,
      options,
      defaultMode: toolMode,
      isGuarded: http.tokens.length > 0,
      state: settings.state ?? createTestState(),
      ...(pageSize !== undefined && { pageSize }),
    });
    this.listener = createTestListener(http, settings.logger ?? SILENT_LOGGER);
    new McpHttpEndpoint({
      modern: this.endpoint,
      defaultMode: toolMode,
      ...(settings.legacy && { legacy: settings.legacy }),
    }).mount(this.listener);
  }

  static async start(settings: Settings = {}): Promise<ModernServer> {
    const server = new ModernServer(settings);
    server.url = `${(await server.listener.listen()).url}/mcp`;
    return server;
  }

  /** Sends a well-formed modern request and resolves with the complete response. */
  async ask(method: string, params: JsonObject = {}, options: AskOptions = {}): Promise<Answer> {
    return (await this.open(method, params, options)).whole();
  }

  /** Same as `ask`, read piece by piece. */
  async open(method: string, params: JsonObject = {}, options: AskOptions = {}): Promise<OpenAnswer> {
    const message = {
      jsonrpc: "2.0",
      id: options.id ?? 1,
      method,
      params: { ...params, _meta: { ...envelope(options), ...options.meta } },
    };
    const name = params["name"] ?? params["uri"];
    const headers = {
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
      ...options.headers,
    };
    return this.post(JSON.stringify(message), headers, options.query);
  }

  async post(
    body: string | Buffer,
    headers: Record<string, string> = {},
    query = "",
    method = "POST",
  ): Promise<OpenAnswer> {
    const request = httpRequest(`${this.url}${query}`, {
      method,
      agent: false,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return new OpenAnswer(response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hub.gate.open();
    this.endpoint.close();
    await this.listener.close();
  }
}

export interface AskOptions {
  readonly id?: string | number;
  readonly capabilities?: JsonObject;
  readonly logLevel?: string;
  readonly meta?: JsonObject;
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

export function envelope({ capabilities = {}, logLevel }: AskOptions = {}): JsonObject {
  return {
    [META.protocolVersion]: REVISION,
    [META.clientCapabilities]: capabilities,
    [META.clientInfo]: { name: "tester", version: "9" },
    ...(logLevel !== undefined && { [META.logLevel]: logLevel }),
  };
}

export class OpenAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly messages: JsonObject[] = [];
  readonly #response: IncomingMessage;
  readonly #ended: Promise<void>;
  #text = "";
  #wake: () => void = () => {};

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    const isStream = response.headers["content-type"] === "text/event-stream";
    const decoder = new SseDecoder(64 * 1024 * 1024, {
      onEvent: ({ data }) => void (data && this.messages.push(JSON.parse(data) as JsonObject)),
    });
    response.on("data", (chunk: Buffer) => {
      this.#text += chunk.toString();
      if (isStream) decoder.push(chunk);
      this.#wake();
    });
    this.#ended = new Promise((resolve) => {
      response.once("error", () => resolve());
      response.once("close", () => {
        if (!isStream && this.#text.startsWith("{")) this.messages.push(JSON.parse(this.#text) as JsonObject);
        resolve();
        this.#wake();
      });
    });
  }

  async whole(): Promise<Answer> {
    await this.#ended;
    return {
      status: this.status,
      headers: this.headers,
      text: this.#text,
      messages: this.messages,
      last: this.messages.at(-1) ?? {},
    };
  }

  /** Resolves when this number of messages has arrived. */
  async count(wanted: number): Promise<readonly JsonObject[]> {
    while (this.messages.length < wanted) {
      if (this.#response.closed) throw new Error(`The stream ended after ${this.messages.length} messages.`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.messages;
  }

  /** Disconnects the caller. */
  drop(): void {
    this.#response.destroy();
  }
}
