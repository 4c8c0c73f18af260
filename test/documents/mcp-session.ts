import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { META } from "../../packages/toolyard/src/wire/modern/envelope.ts";
import { standardHeaders } from "../../packages/toolyard/src/wire/modern/headers.ts";

export interface SessionOptions {
  /** @default "2025-11-25" */
  readonly revision?: string;
  /** Added to the URL of every request, such as `tool_mode=discovery`. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `_meta` of `initialize`. */
  readonly meta?: JsonObject;
  readonly capabilities?: JsonObject;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON-RPC messages of the body, in order. */
  readonly messages: readonly unknown[];
  readonly text: string;
}

export type Reply = JsonObject & {
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
};

const MODERN = "2026-07-28";

/** An MCP client based on `fetch`, so that tests see the transmitted messages. */
export class McpSession {
  /** Result of `initialize`; empty in the modern era. */
  opening: JsonObject = {};
  readonly #url: string;
  readonly #options: SessionOptions;
  #session: string | undefined;
  #lastId = 0;

  private constructor(endpoint: string, options: SessionOptions) {
    this.#url = options.query === undefined ? endpoint : `${endpoint}?${options.query}`;
    this.#options = options;
  }

  static async open(endpoint: string, options: SessionOptions): Promise<McpSession> {
    const session = new McpSession(endpoint, options);
    if (!session.#isModern) await session.#initialize();
    return session;
  }

  /** Posts a body unchanged. */
  async post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...this.#own(body),
        ...this.#options.headers,
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, messages: messagesOf(response, text) };
  }

  /** Sends one request and resolves with the whole reply, result or error. */
  async request(
    method: string,
    params: JsonObject = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = await this.post(
      { jsonrpc: "2.0", id, method, params: this.#isModern ? this.#withEnvelope(params) : params },
      headers,
    );
    const reply = answer.messages.find((message) => (message as JsonObject)["id"] === id);
    if (!reply) throw new Error(`No reply to ${method}: HTTP ${answer.status} ${answer.text}`);
    return reply as Reply;
  }

  /** Returns the listed tools. */
  async tools(headers: Readonly<Record<string, string>> = {}): Promise<readonly JsonObject[]> {
    const { result, error } = await this.request("tools/list", {}, headers);
    if (!result) throw new Error(`tools/list failed: ${JSON.stringify(error)}`);
    return result["tools"] as readonly JsonObject[];
  }

  async names(headers: Readonly<Record<string, string>> = {}): Promise<string[]> {
    return (await this.tools(headers)).map((tool) => String(tool["name"]));
  }

  call(name: string, args: JsonObject = {}, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.request("tools/call", { name, arguments: args }, headers);
  }

  /** Calls a tool and resolves with the only text of its result. The call must succeed. */
  async text(name: string, args: JsonObject = {}, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const reply = await this.call(name, args, headers);
    const content = (reply.result?.["content"] ?? []) as readonly JsonObject[];
    if (!reply.result || reply.result["isError"] === true || content.length === 0)
      throw new Error(`${name} failed: ${JSON.stringify(reply)}`);
    return String(content[0]!["text"]);
  }

  /** Resolves with the names that `tool_search` returns, best first. */
  async search(
    query: string,
    more: JsonObject = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string[]> {
    return (await this.#hits({ query, ...more }, headers)).map((hit) => String(hit["name"]));
  }

  /**
   * Resolves with the names of tools that match a query. Omits the nearest tools, which a search returns if none match.
   */
  async matches(query: string): Promise<string[]> {
    const hits = await this.#hits({ query }, {});
    return hits.filter((hit) => Number(hit["score"]) > 0.05).map((hit) => String(hit["name"]));
  }

  async #hits(args: JsonObject, headers: Readonly<Record<string, string>>): Promise<readonly JsonObject[]> {
    const text = await this.text("tool_search", args, headers);
    return text.startsWith("[") ? (JSON.parse(text) as readonly JsonObject[]) : [];
  }

  get #isModern(): boolean {
    return this.#options.revision === MODERN;
  }

  async #initialize(): Promise<void> {
    const { revision = "2025-11-25", capabilities = {}, meta } = this.#options;
    const params = {
      protocolVersion: revision,
      capabilities,
      clientInfo: { name: "requirements", version: "1" },
      ...(meta ? { _meta: meta } : {}),
    };
    const answer = await this.post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    this.#session = answer.headers.get("mcp-session-id") ?? undefined;
    this.opening = objectMember(answer.messages[0] as JsonObject, "result") ?? {};
    await this.post({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  #own(body: unknown): Record<string, string> {
    if (this.#isModern)
      return standardHeaders(String((body as JsonObject)["method"]), objectMember(body as JsonObject, "params"));
    return this.#session === undefined ? {} : { "mcp-session-id": this.#session };
  }

  #withEnvelope(params: JsonObject): JsonObject {
    const { capabilities = {} } = this.#options;
    const envelope = {
      [META.protocolVersion]: MODERN,
      [META.clientCapabilities]: capabilities,
      [META.clientInfo]: { name: "requirements", version: "1" },
    };
    return { ...params, _meta: { ...objectMember(params, "_meta"), ...envelope } };
  }
}

function messagesOf(response: Response, text: string): readonly unknown[] {
  if (text === "") return [];
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return isJson ? [JSON.parse(text)].flat() : [];
  }
  const data = text
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data: ") && line.length > 6 ? [line.slice(6)] : []));
  return data.flatMap((one) => JSON.parse(one) as unknown);
}
