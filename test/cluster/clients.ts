// Clients that send each request to another address, like a load balancer without affinity.
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { META } from "../../packages/toolyard/src/wire/modern/envelope.ts";
import { standardHeaders } from "../../packages/toolyard/src/wire/modern/headers.ts";
import { SseDecoder } from "../../packages/toolyard/src/wire/sse.ts";

export interface SseMessage {
  readonly id: string | undefined;
  readonly message: JsonObject;
}

const TYPES = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const MAX_EVENT_BYTES = 10_000_000;

/** Returns the messages of a response, a stream or JSON. Events without data are passed to `onId` only. */
export async function* messagesOf(
  response: Response,
  onId: (id: string) => void = () => {},
): AsyncGenerator<SseMessage> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = await response.text();
    if (text !== "") yield { id: undefined, message: JSON.parse(text) as JsonObject };
    return;
  }
  const waiting: SseMessage[] = [];
  const decoder = new SseDecoder(MAX_EVENT_BYTES, {
    onEvent: ({ data, id }: { readonly data: string; readonly id?: string | undefined }) => {
      if (id !== undefined) onId(id);
      if (data !== "") waiting.push({ id, message: JSON.parse(data) as JsonObject });
    },
  } as never);
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    decoder.push(Buffer.from(chunk));
    yield* waiting.splice(0);
  }
}

export type UrlOf = () => string;

/** Returns the addresses in turn. */
export function inTurn(urls: readonly string[]): UrlOf {
  let at = -1;
  return () => urls[(at = (at + 1) % urls.length)]!;
}

export class LegacyClient {
  session = "";
  readonly headers: Record<string, string> = {};
  readonly #urlOf: UrlOf;
  #lastId = 0;

  constructor(urlOf: UrlOf) {
    this.#urlOf = urlOf;
  }

  static async open(
    urlOf: UrlOf,
    capabilities: JsonObject = { elicitation: {} },
    token?: string,
  ): Promise<LegacyClient> {
    const client = new LegacyClient(urlOf);
    if (token !== undefined) client.headers["authorization"] = `Bearer ${token}`;
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "test", version: "1" } };
    const response = await client.post({ id: client.nextId(), method: "initialize", params });
    if (response.status !== 200) throw new Error(`initialize: ${response.status} ${await response.text()}`);
    client.session = response.headers.get("mcp-session-id") ?? "";
    for await (const _ of messagesOf(response));
    client.headers["mcp-protocol-version"] = "2025-11-25";
    await (await client.post({ method: "notifications/initialized" })).text();
    return client;
  }

  /** Continues the session of another client at other addresses. */
  static continue({ session, headers, nextId }: LegacyClient, urlOf: UrlOf): LegacyClient {
    const client = new LegacyClient(urlOf);
    client.session = session;
    Object.assign(client.headers, headers);
    client.nextId = nextId;
    return client;
  }

  nextId = (): number => {
    this.#lastId += 1;
    return this.#lastId;
  };

  post(message: JsonObject, options: { readonly signal?: AbortSignal; readonly url?: string } = {}): Promise<Response> {
    return fetch(`${options.url ?? this.#urlOf()}/mcp`, {
      method: "POST",
      headers: { ...TYPES, ...this.#own },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(options.signal && { signal: options.signal }),
    });
  }

  get(lastEventId?: string, options: { readonly signal?: AbortSignal; readonly url?: string } = {}): Promise<Response> {
    const last = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return fetch(`${options.url ?? this.#urlOf()}/mcp`, {
      headers: { accept: "text/event-stream", ...last, ...this.#own },
      ...(options.signal && { signal: options.signal }),
    });
  }

  delete(): Promise<Response> {
    return fetch(`${this.#urlOf()}/mcp`, { method: "DELETE", headers: this.#own });
  }

  /** Sends a request and returns all messages of its answer. */
  async request(method: string, params: JsonObject = {}): Promise<readonly JsonObject[]> {
    const messages: JsonObject[] = [];
    const response = await this.post({ id: this.nextId(), method, params });
    for await (const { message } of messagesOf(response)) messages.push(message);
    return messages;
  }

  async call(name: string, args: JsonObject, meta?: JsonObject): Promise<readonly JsonObject[]> {
    return this.request("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });
  }

  get #own(): Record<string, string> {
    return { ...this.headers, ...(this.session !== "" && { "mcp-session-id": this.session }) };
  }
}

/** Sends one modern request. */
export function postModern(
  url: string,
  method: string,
  params: JsonObject,
  options: { readonly id?: number; readonly signal?: AbortSignal; readonly headers?: Record<string, string> } = {},
): Promise<Response> {
  const envelope = { [META.protocolVersion]: "2026-07-28", [META.clientCapabilities]: { elicitation: {} } };
  const whole = { ...params, _meta: { ...(params["_meta"] as JsonObject | undefined), ...envelope } };
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: { ...TYPES, ...standardHeaders(method, whole), ...options.headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: options.id ?? 1, method, params: whole }),
    ...(options.signal && { signal: options.signal }),
  });
}

/** Sends one modern request and returns the messages of its answer. */
export async function askModern(
  url: string,
  method: string,
  params: JsonObject,
  headers: Record<string, string> = {},
): Promise<readonly JsonObject[]> {
  const messages: JsonObject[] = [];
  for await (const { message } of messagesOf(await postModern(url, method, params, { headers })))
    messages.push(message);
  return messages;
}

export function textOf(message: JsonObject | undefined): string {
  const result = message?.["result"] as { readonly content?: readonly { readonly text?: string }[] } | undefined;
  return result?.content?.[0]?.text ?? JSON.stringify(message);
}
