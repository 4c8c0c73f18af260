// A client that sends and records messages as text, so that a test sees each digit as sent.
import { PassThrough } from "node:stream";
import { createProtocolSink } from "../../packages/toolyard/src/process/stdout-guard.ts";
import type { Hub } from "../../packages/toolyard/src/hub/open-hub.ts";
import { serveStdio } from "../../packages/toolyard/src/hub/serve/serve-stdio.ts";
import { rawMember } from "../fixtures/raw/raw-json.mjs";
import { eventsOf } from "../fixtures/raw/wire.ts";

export interface TextClientOptions {
  readonly era: "legacy" | "modern";
  /** Text of the `content` that answers an elicitation. */
  readonly answer?: string;
}

/** Carries texts to a hub; `onText` receives the hub's texts. */
interface TextWire {
  onText: (text: string) => void;
  send(text: string, headers: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

const REVISION = { legacy: "2025-11-25", modern: "2026-07-28" } as const;
const CAPABILITIES = '{"elicitation":{"form":{}},"sampling":{},"roots":{}}';
const INFO = '{"name":"texts","version":"1"}';
const PREFIX = "io.modelcontextprotocol/";

export class RawTextClient implements AsyncDisposable {
  /** Texts of notifications and requests of the hub. */
  readonly heard: string[] = [];
  readonly #wire: TextWire;
  readonly #options: TextClientOptions;
  readonly #waiting = new Map<string, (text: string) => void>();

  private constructor(wire: TextWire, options: TextClientOptions) {
    this.#wire = wire;
    this.#options = options;
    wire.onText = (text) => this.#receive(text);
  }

  static async open(wire: TextWire, options: TextClientOptions): Promise<RawTextClient> {
    const client = new RawTextClient(wire, options);
    if (options.era === "modern") return client;
    const hello = `{"protocolVersion":"${REVISION.legacy}","capabilities":${CAPABILITIES},"clientInfo":${INFO}}`;
    await client.request('"hello"', "initialize", hello);
    await wire.send('{"jsonrpc":"2.0","method":"notifications/initialized"}', {});
    return client;
  }

  /** Sends a request with id and params as text; resolves with the text of the reply. */
  async request(id: string, method: string, params: string): Promise<string> {
    const reply = new Promise<string>((resolve) => this.#waiting.set(id, resolve));
    const sent = this.#options.era === "modern" ? withEnvelope(params) : params;
    const name = rawMember(sent, "name") ?? rawMember(sent, "uri");
    const headers = {
      "mcp-method": method,
      "mcp-protocol-version": REVISION[this.#options.era],
      ...(name !== undefined && { "mcp-name": JSON.parse(name) as string }),
    };
    const legacyHeaders = method === "initialize" ? {} : { "mcp-protocol-version": REVISION.legacy };
    await this.#wire.send(
      `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${sent}}`,
      this.#options.era === "modern" ? headers : legacyHeaders,
    );
    return reply;
  }

  /** Sends a notification of the legacy era with params as a text. */
  notify(method: string, params: string): Promise<void> {
    const headers = { "mcp-protocol-version": REVISION.legacy };
    return this.#wire.send(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`, headers);
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #receive(text: string): void {
    const id = rawMember(text, "id");
    if (rawMember(text, "method") === undefined) return this.#waiting.get(id ?? "")?.(text);
    this.heard.push(text);
    if (id === undefined) return;
    const result = `{"action":"accept","content":${this.#options.answer ?? "{}"}}`;
    void this.#wire.send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`, {
      "mcp-protocol-version": REVISION.legacy,
    });
  }
}

function withEnvelope(params: string): string {
  const meta = rawMember(params, "_meta")?.slice(1, -1) ?? "";
  const envelope =
    `"${PREFIX}protocolVersion":"${REVISION.modern}","${PREFIX}clientInfo":${INFO},` +
    `"${PREFIX}clientCapabilities":${CAPABILITIES},"${PREFIX}logLevel":"debug"`;
  const others = ["name", "arguments", "uri", "inputResponses", "requestState"].flatMap((member) => {
    const value = rawMember(params, member);
    return value === undefined ? [] : [`"${member}":${value}`];
  });
  return `{${[...others, `"_meta":{${[envelope, ...(meta === "" ? [] : [meta])].join(",")}}`].join(",")}}`;
}

export function httpTexts(url: string): TextWire {
  const closing = new AbortController();
  let session: string | undefined;
  const read = async (response: Response): Promise<void> => {
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    if (response.headers.get("content-type")?.startsWith("text/event-stream"))
      for await (const data of eventsOf(response.body as unknown as AsyncIterable<Uint8Array>)) wire.onText(data);
    else {
      const text = await response.text();
      if (text !== "") wire.onText(text);
    }
  };
  const wire: TextWire = {
    onText: () => {},
    send: async (body, headers) => {
      const accept = "application/json, text/event-stream";
      const own = session === undefined ? {} : { "mcp-session-id": session };
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept, ...own, ...headers },
        body,
        signal: closing.signal,
      });
      // Server requests on this stream are answered while it is read.
      void read(response).catch(() => {});
    },
    close: async () => closing.abort(),
  };
  return wire;
}

/** A pipe to a hub in this process. */
export function pipeTexts(hub: Hub): TextWire {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(hub, {}, { input, output: { sink: createProtocolSink(output), release: () => {} } });
  let rest = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) wire.onText(line);
  });
  const wire: TextWire = {
    onText: () => {},
    send: async (text) => void input.write(`${text}\n`),
    close: () => served.close(0),
  };
  return wire;
}
