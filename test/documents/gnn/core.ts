// A core in a temporary folder, and clients with plain JSON-RPC, so that tests see the transmitted messages.
import { PassThrough } from "node:stream";
import { MCP, MCPHTTPServer, StdioServer, type MCPOptions } from "../../../packages/toolyard/src/core-server.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import type { Logger } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { createProtocolSink } from "../../../packages/toolyard/src/process/stdout-guard.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

export type Reply = JsonObject & {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};

/** Log lines, as `level message` followed by the fields. */
export class Lines implements Logger {
  readonly all: string[] = [];
  whole = "";

  debug = this.#take("debug");
  info = this.#take("info");
  warning = this.#take("warning");
  error = this.#take("error");

  with(): Logger {
    return this;
  }

  #take(level: string) {
    return (message: string, facts: JsonObject = {}): void => {
      this.all.push(`${level} ${message}`);
      this.whole += `${level} ${message} ${JSON.stringify(facts)}\n`;
    };
  }
}

export class Core implements AsyncDisposable {
  readonly folder = new ToolFolder();
  readonly log = new Lines();
  readonly #closers: (() => Promise<unknown>)[] = [];
  #mcp: MCP | undefined;

  /** A module `src/<name>/mcp.mjs` that runs `body`, with `mcp` in scope. */
  module(name: string, body: string): string {
    return this.folder.write(`src/${name}/mcp.mjs`, `export function register_tools(mcp) {\n${body}\n}\n`);
  }

  get options(): MCPOptions {
    return {
      paths: [`${this.folder.path}/src`],
      variables: { ...process.env, TOOLYARD_HOME: `${this.folder.path}/home` },
      logger: this.log,
    };
  }

  get mcp(): MCP {
    this.#mcp ??= new MCP(this.options);
    return this.#mcp;
  }

  with(options: MCPOptions): this {
    this.#mcp = new MCP({ ...this.options, ...options });
    return this;
  }

  async http(): Promise<HttpClient> {
    const server = new MCPHTTPServer(this.mcp, "127.0.0.1", 0);
    await server.start();
    this.#closers.push(() => server.stop());
    return new HttpClient(server.url!);
  }

  stdio(): LineClient {
    const client = new LineClient(this.mcp);
    this.#closers.push(() => client.stop());
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#closers.map((close) => close()));
    await this.#mcp?.close();
    this.folder[Symbol.dispose]();
  }
}

export class HttpClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** Posts a body unchanged, or a value as JSON. */
  async post(
    body: unknown,
    path = "/jsonrpc",
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; type: string | null; text: string; reply: Reply }> {
    const response = await fetch(`${this.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type") === "application/json";
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      text,
      reply: (isJson ? JSON.parse(text) : {}) as Reply,
    };
  }
}

/** The client's end of a `StdioServer`'s pipes. */
export class LineClient {
  readonly input = new PassThrough();
  readonly server: StdioServer;
  readonly over: Promise<void>;
  readonly lines: string[] = [];
  readonly #output = new PassThrough();
  #wake: () => void = () => {};
  #rest = "";

  constructor(mcp: MCP) {
    this.#output.on("data", (chunk: Buffer) => {
      const parts = (this.#rest + chunk.toString()).split("\n");
      this.#rest = parts.pop()!;
      this.lines.push(...parts);
      this.#wake();
    });
    this.server = new StdioServer({
      input: this.input,
      output: { sink: createProtocolSink(this.#output), release: () => {} },
    });
    this.over = this.server.start(mcp);
  }

  /** Sends lines: texts unchanged, values as JSON. */
  send(...values: unknown[]): void {
    this.input.write(values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join(""));
  }

  get messages(): (Reply | Reply[])[] {
    return this.lines.map((line) => JSON.parse(line) as Reply);
  }

  /** Resolves with the first `count` lines, parsed. */
  async read(count: number): Promise<(Reply | Reply[])[]> {
    while (this.lines.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.messages.slice(0, count);
  }

  async ask(value: unknown): Promise<Reply> {
    const at = this.lines.length;
    this.send(value);
    return (await this.read(at + 1))[at] as Reply;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

export function request(method: string, params?: unknown, id: unknown = 1): JsonObject {
  return { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
}

export const SUM = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};
