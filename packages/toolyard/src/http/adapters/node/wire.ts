import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AnswerWire, BodyAccounts, HttpRequest, RawHeaders, RequestHeaders, WireEvents } from "../../wire.ts";
import { readBody } from "./body.ts";
import { DrainWatch } from "./drain-watch.ts";
import { PacedSocket } from "./paced-socket.ts";
import { ReaderWatch, sentBytes } from "./reader-watch.ts";

/** Owner of these connections. */
export interface WireOwner {
  /** Milliseconds for which a caller may leave a complete answer unread. */
  readonly streamStallMs: number;
  /** Called when the answer was sent, or the caller disconnected. */
  over(wire: NodeWire): void;
}

/** Request and answer on a connection of Node's own server. */
export class NodeWire implements HttpRequest, AnswerWire {
  events: WireEvents | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #owner: WireOwner;
  readonly #drain = new DrainWatch();

  constructor(request: IncomingMessage, response: ServerResponse, owner: WireOwner) {
    this.#request = request;
    this.#response = response;
    this.#owner = owner;
    NodeWire.#watch(this);
  }

  // A static method, because on Node 20 a closure created in the constructor would stay in memory until a full garbage
  // collection. `on` is used although both events occur once, because `once` would create a further function for each.
  static #watch(wire: NodeWire): void {
    wire.#response.on("close", () => {
      wire.#owner.over(wire);
      wire.events?.closed();
    });
    wire.#response.on("prefinish", () => wire.#watchReader());
  }

  get method(): string {
    return this.#request.method ?? "GET";
  }

  get target(): string {
    return this.#request.url ?? "/";
  }

  get headers(): RequestHeaders {
    return this.#request.headers;
  }

  get peerAddress(): string {
    return this.#request.socket.remoteAddress ?? "";
  }

  get isSecure(): boolean {
    return "encrypted" in this.#request.socket;
  }

  /** Socket of the connection. */
  get socket(): Socket {
    const socket: Duplex = this.#request.socket;
    return socket instanceof PacedSocket ? socket.raw : (socket as Socket);
  }

  get connection(): object {
    return this.socket;
  }

  get isGone(): boolean {
    return this.#response.destroyed;
  }

  get waitingBytes(): number {
    return this.#response.writableLength;
  }

  get sentBytes(): number {
    return sentBytes(this.socket);
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  readBody(maxBytes: number, accounts: BodyAccounts): Promise<Buffer> {
    return readBody(this.#request, maxBytes, accounts);
  }

  setHeader(name: string, value: string): void {
    this.#response.setHeader(name, value);
  }

  begin(status: number, headers: RawHeaders): void {
    // Node's type requires a mutable list, but Node does not change it.
    this.#response.writeHead(status, headers as string[]);
  }

  flush(): void {
    this.#response.flushHeaders();
  }

  write(piece: string | Uint8Array, onTaken?: () => void): boolean {
    const isEnough = !this.#response.write(piece, onTaken);
    if (isEnough) this.#drain.wait(this.#response, () => this.events?.drained());
    return !isEnough;
  }

  end(last: string | Uint8Array = "", encoding: "latin1" | "utf8" = "utf8"): void {
    this.#response.end(last, encoding);
  }

  cut(): void {
    this.#response.destroy();
  }

  /** Informs Node that the connection ends with this answer. */
  endConnectionAfter(): void {
    this.#response.shouldKeepAlive = false;
  }

  /** Watches the reader: a client that does not read its answer must not keep it in memory without limit. */
  #watchReader(): void {
    if (this.#response.writableLength === 0) return;
    const watch = new ReaderWatch();
    watch.start(this.socket, this.#owner.streamStallMs);
    this.#response.once("close", () => watch.stop());
  }
}
