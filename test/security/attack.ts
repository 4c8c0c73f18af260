// Parts of the attack tests: a whole hub on HTTP, requests that no honest client sends, and servers that break rules.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { createHub, type HubConfig, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { readJson, sendJson, startServer, type RunningServer } from "../fixtures/http-servers.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient, type EraName, type RawClientOptions } from "../fixtures/raw/raw-client.ts";

export interface Target extends AsyncDisposable {
  readonly hub: LibraryHub;
  /** URL of the MCP endpoint. */
  readonly url: string;
  readonly port: number;
  /** Data folder of the hub. */
  readonly home: string;
  /** Resolves with everything that was logged so far, including debug lines, after it was written. */
  log(): Promise<string>;
  audit(): Promise<string>;
  send(request: RawRequest): Promise<RawAnswer>;
  client(token?: string, options?: Partial<RawClientOptions>): Promise<RawClient>;
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Serves a hub on a free port, with a separate data folder, log and audit file. */
export async function openTarget(
  settings: HubConfig = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const home = await mkdtemp(join(tmpdir(), "toolyard-security-"));
  const files = { log: join(home, "hub.log"), audit: join(home, "audit.log") };
  const hub = await createHub({
    settings: {
      logging: { level: "debug", format: "json", file: files.log },
      audit: { file: files.audit },
      ...settings,
      server: { port: 0, ...settings.server },
    },
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: home, ...variables },
  }).catch(async (error: unknown) => {
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  const { endpoint, address } = await hub.serve().catch(async (error: unknown) => {
    await hub.close();
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  const clients: RawClient[] = [];
  return {
    hub,
    url: endpoint,
    port: address.port,
    home,
    log: () => readLater(files.log),
    audit: () => readLater(files.audit),
    send: (request) => sendRaw(address.port, request),
    client: async (token, options = {}) => {
      const era: EraName = options.era ?? "modern";
      const wire = new HttpWire(endpoint, era, token === undefined ? {} : { authorization: `Bearer ${token}` });
      const client = await RawClient.open(wire, { era, ...options });
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) await client.close();
      await hub.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

// The sink writes lines in later turns of the event loop.
async function readLater(file: string): Promise<string> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
  return readFile(file, "utf8").catch(() => "");
}

/**
 * Sends one request exactly as written, because `fetch` would correct its headers. Streams are closed after their
 * headers and first bytes.
 */
export function sendRaw(
  port: number,
  { method = "POST", path = "/mcp", headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: "127.0.0.1", port, method, path, headers: { connection: "close", ...headers } },
      (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        const done = (): void =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString("utf8"),
          });
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          if (!response.headers["content-type"]?.startsWith("text/event-stream")) return;
          done();
          request.destroy();
        });
        response.on("end", done);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

export const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export function rpc(method: string, params: JsonObject = {}, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

export function initialize(): string {
  return rpc("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  });
}

export interface Offers {
  readonly capabilities?: JsonObject;
  readonly instructions?: string;
  readonly tools?: readonly JsonObject[] | (() => readonly JsonObject[]);
  readonly resources?: readonly JsonObject[];
  readonly templates?: readonly JsonObject[];
  readonly prompts?: readonly JsonObject[];
  /**
   * Handles any request except the handshake: returns a `result` or an `error`, or undefined if it responds itself.
   */
  answer?(
    method: string,
    params: JsonObject,
    exchange: Exchange,
  ): JsonObject | undefined | Promise<JsonObject | undefined>;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: number;
}

export interface Upstream extends RunningServer {
  /** Received requests with their headers, in order. */
  readonly received: { readonly method: string; readonly params: JsonObject; readonly headers: IncomingHttpHeaders }[];
}

/** Starts a legacy MCP server on HTTP whose answers the test sets. */
export async function openUpstream(offers: Offers): Promise<Upstream> {
  const received: Upstream["received"] = [];
  const server = await startServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method = "", params = {} } = await readJson(request);
    received.push({ method, params, headers: request.headers });
    if (id === undefined) return void response.writeHead(202).end();
    const reply = await answerOf(offers, method, params, { request, response, id });
    if (reply !== undefined) sendJson(response, 200, { jsonrpc: "2.0", id, ...reply });
  });
  return { ...server, received };
}

// oxlint-disable-next-line complexity -- One case per way in.
async function answerOf(
  offers: Offers,
  method: string,
  params: JsonObject,
  exchange: Exchange,
): Promise<JsonObject | undefined> {
  const own = await offers.answer?.(method, params, exchange);
  if (own !== undefined || exchange.response.headersSent) return own;
  switch (method) {
    case "initialize": {
      const { instructions } = offers;
      const capabilities = offers.capabilities ?? {
        tools: {},
        resources: {},
        prompts: {},
        completions: {},
        logging: {},
      };
      return {
        result: {
          protocolVersion: "2025-11-25",
          capabilities,
          serverInfo: { name: "hostile", version: "1" },
          ...(instructions !== undefined && { instructions }),
        },
      };
    }
    case "tools/list":
      return { result: { tools: typeof offers.tools === "function" ? offers.tools() : (offers.tools ?? []) } };
    case "resources/list":
      return { result: { resources: offers.resources ?? [] } };
    case "resources/templates/list":
      return { result: { resourceTemplates: offers.templates ?? [] } };
    case "prompts/list":
      return { result: { prompts: offers.prompts ?? [] } };
    case "tools/call":
      return { result: say(JSON.stringify({ tool: params["name"], args: params["arguments"] })) };
    case "resources/read":
      return { result: { contents: [{ uri: params["uri"], text: `content of ${String(params["uri"])}` }] } };
    case "prompts/get":
      return { result: { messages: [{ role: "user", content: { type: "text", text: String(params["name"]) } }] } };
    case "completion/complete":
      return { result: { completion: { values: ["completed"] } } };
    default:
      return isKnown(method) ? { result: {} } : { error: { code: -32601, message: "Method not found" } };
  }
}

function isKnown(method: string): boolean {
  return ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"].includes(method);
}

export function say(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}

export function tool(name: string, more: JsonObject = {}): JsonObject {
  return { name, description: `The tool ${name}.`, inputSchema: { type: "object" }, ...more };
}

/** Returns all texts of a reply: the error's message, or the content of its result. */
export function wordsOf(reply: JsonObject): string {
  const { error, result } = reply;
  if (isJsonObject(error)) return String(error["message"]);
  const content = isJsonObject(result) && Array.isArray(result["content"]) ? result["content"] : [];
  return content.map((block) => (isJsonObject(block) ? String(block["text"]) : "")).join("\n");
}

export function isRefused(reply: JsonObject): boolean {
  const { error, result } = reply;
  return isJsonObject(error) || (isJsonObject(result) && result["isError"] === true);
}
