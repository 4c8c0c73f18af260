// One caller on one kept connection, so that a test decides which requests share a connection.
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { eventsOf } from "../fixtures/raw/wire.ts";

export interface LineAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The JSON body, or the last event with a message. */
  readonly message: JsonObject & { readonly result?: JsonObject; readonly error?: JsonObject };
}

/** Several connections may share a session, in which request ids must be unique. */
let lastId = 0;

export class KeptLine implements Disposable {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #session: string | undefined;

  constructor(url: string, session?: string) {
    this.#url = url;
    this.#session = session;
  }

  get session(): string {
    return this.#session ?? "";
  }

  /** Begins a session of the legacy era. */
  async open(): Promise<this> {
    const answer = await this.post("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    this.#session = String(answer.headers["mcp-session-id"]);
    await this.send("POST", { jsonrpc: "2.0", method: "notifications/initialized" });
    return this;
  }

  post(method: string, params: JsonObject = {}): Promise<LineAnswer> {
    return this.send("POST", { jsonrpc: "2.0", id: (lastId += 1), method, params });
  }

  tool(name: string, args: JsonObject = {}): Promise<LineAnswer> {
    return this.post("tools/call", { name, arguments: args });
  }

  /** Sends a request. Rejects if the connection ends before the answer is complete. */
  async send(method: string, body?: JsonObject, path?: string): Promise<LineAnswer> {
    const response = await this.begin(method, body, path);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    if (!response.complete) throw new Error("The answer was cut off.");
    const text = Buffer.concat(chunks).toString();
    return { status: response.statusCode ?? 0, headers: response.headers, text, message: messageIn(text) };
  }

  /** Returns the head of an answer; the caller reads its body. */
  async begin(method: string, body?: JsonObject, path?: string): Promise<IncomingMessage> {
    const url = path === undefined ? this.#url : new URL(path, this.#url);
    const session =
      this.#session === undefined ? {} : { "mcp-session-id": this.#session, "mcp-protocol-version": "2025-11-25" };
    const accept = method === "GET" && path === undefined ? "text/event-stream" : "application/json, text/event-stream";
    const request = httpRequest(url, {
      method,
      agent: this.#agent,
      headers: { "content-type": "application/json", accept, ...session },
    });
    request.end(body && JSON.stringify(body));
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return response;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** Yields the messages of a stream. */
export async function* messagesOf(response: IncomingMessage): AsyncGenerator<JsonObject> {
  for await (const data of eventsOf(response)) yield JSON.parse(data) as JsonObject;
}

function messageIn(text: string): LineAnswer["message"] {
  const json = text.startsWith("{")
    ? text
    : (text
        .split("\n")
        .findLast((line) => line.startsWith("data: {"))
        ?.slice(6) ?? "{}");
  return JSON.parse(json) as LineAnswer["message"];
}
