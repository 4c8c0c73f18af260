// A listener for clients that write raw bytes: with one process or workers, with and without TLS.
import { once } from "node:events";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { PortListener } from "../../packages/toolyard/src/http/listening/listener.ts";
import { resolveHttp } from "../../packages/toolyard/src/http/options.ts";
import { sendText } from "../../packages/toolyard/src/http/answer/send.ts";
import { CertificateFiles } from "../support/certificates.ts";
import { createTestListener } from "../support/test-listener.ts";

export const BODY_BYTES = 100_000;
export const STALL_MS = 800;
/** More than the system buffers for a connection. */
export const LARGE_BYTES = 60_000_000;
export const HEAD = "Host: localhost\r\n";
export const ADA = `${HEAD}Authorization: Bearer token-of-ada\r\n`;
export const BOB = `${HEAD}Authorization: Bearer token-of-bob\r\n`;

/** Returns the head of a POST. */
export function post(headers: string, bytes: number, path = "/length"): string {
  return `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${bytes}\r\n\r\n`;
}

export interface RawEndpointOptions {
  readonly workers: number;
  readonly kind: "plain" | "TLS";
}

/** All forms of the listener. */
export const RAW_ENDPOINTS: readonly RawEndpointOptions[] = [
  { workers: 1, kind: "plain" },
  { workers: 1, kind: "TLS" },
  { workers: 2, kind: "plain" },
  { workers: 2, kind: "TLS" },
];

export class RawEndpoint implements AsyncDisposable {
  /** Ends the waiting handler of `/wait`. */
  release = (): void => {};
  readonly #files = new CertificateFiles();
  readonly #callers: RawCaller[] = [];
  readonly #kind: RawEndpointOptions["kind"];
  readonly #listener: PortListener;
  #port = 0;

  static async open(options: RawEndpointOptions): Promise<RawEndpoint> {
    const endpoint = new RawEndpoint(options);
    await endpoint.#listen();
    return endpoint;
  }

  private constructor({ workers, kind }: RawEndpointOptions) {
    this.#kind = kind;
    const options = resolveHttp({
      port: 0,
      max_body_bytes: BODY_BYTES,
      max_stream_backlog_bytes: 2 * LARGE_BYTES,
      max_arriving_bytes: 4 * BODY_BYTES * workers,
      shutdown_grace: 200,
      stream_stall: STALL_MS,
      tokens: { ada: { token: "token-of-ada" }, bob: { token: "token-of-bob" } },
      trusted_proxy: ["127.0.0.1"],
      ...(kind === "TLS" && { tls: { cert: this.#files.cert, key: this.#files.key } }),
    });
    this.#listener = createTestListener(options, SILENT_LOGGER, workers);
    this.#mount();
  }

  connect(): RawCaller {
    const place = { port: this.#port, host: "127.0.0.1" };
    const caller = new RawCaller(
      this.#kind === "TLS" ? connectSecure({ ...place, ca: this.#files.authority.cert }) : connectPlain(place),
    );
    this.#callers.push(caller);
    return caller;
  }

  /** Ends all connections. */
  disconnect(): void {
    for (const { socket } of this.#callers.splice(0)) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
    await this.#listener.close();
    this.#files[Symbol.dispose]();
  }

  async #listen(): Promise<void> {
    const pair = { cert: this.#files.read("cert"), key: this.#files.read("key") };
    if (this.#kind === "TLS") await this.#listener.certify(pair as Parameters<PortListener["certify"]>[0]);
    this.#port = (await this.#listener.listen()).port;
  }

  #mount(): void {
    const listener = this.#listener;
    listener.route({ methods: ["GET", "POST"], path: "/length" }, async (exchange) => {
      const { length } = await exchange.readBody();
      sendText(exchange.answer, 200, `${length} bytes from ${exchange.remoteAddress}`);
    });
    listener.route({ methods: ["GET"], path: "/large" }, ({ answer }) =>
      answer.send(200, [], Buffer.alloc(LARGE_BYTES, 0x79)),
    );
    listener.route({ methods: ["GET"], path: "/streamed" }, (exchange) => {
      const stream = exchange.openStream();
      for (let sent = 0; sent < LARGE_BYTES; sent += LARGE_BYTES / 4) stream.send("y".repeat(LARGE_BYTES / 4));
      stream.end();
    });
    listener.route({ methods: ["POST"], path: "/unread" }, ({ answer }) => sendText(answer, 200, "unread"));
    listener.route({ methods: ["POST"], path: "/wait" }, async ({ answer }) => {
      await new Promise<void>((resolve) => (this.release = resolve));
      sendText(answer, 200, "waited");
    });
  }
}

/** A client that writes raw bytes and keeps the text of each answer. */
export class RawCaller {
  text = "";
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {}).on("data", (chunk: Buffer) => (this.text += chunk.toString("latin1")));
  }

  /** Resolves with the text when it matches; rejects if the connection ends before. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text)) {
      if (this.socket.closed) throw new Error(`The connection ended with ${JSON.stringify(this.text.slice(-300))}.`);
      await Promise.race([once(this.socket, "data"), once(this.socket, "close")]);
    }
    return this.text;
  }

  async ended(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, "close");
    return this.text;
  }
}
