// A client that costs next to nothing: HTTP/1.1 over bare sockets, one request at a time on each. It reads answers with a length, in
// chunks, plain and as events, and looks at each: it must be the result of its own request, of the size that is due.
import { connect } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

/** One connection. `headers` go with each request. */
export class Wire {
  #socket;
  #host;
  #path;
  #parts = [];
  #held = 0;
  #awaited;
  #expected;
  headers = {};

  constructor(url) {
    const { hostname, port, host, pathname } = new URL(url);
    this.#host = host;
    this.#path = pathname;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on("data", (chunk) => this.#take(chunk));
    this.#socket.on("error", (error) => this.#awaited?.failed(error));
    this.#socket.on("close", () => this.#awaited?.failed(new Error("The connection was closed.")));
  }

  /** Sends a body, and resolves with the answer's head and body as they came. */
  post(body, extra = {}) {
    const headers = Object.entries({ ...this.headers, ...extra }).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST ${this.#path} HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n${headers.join("")}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    return new Promise((done, failed) => {
      this.#awaited = { done, failed };
      this.#socket.write(head + body);
    });
  }

  close() {
    this.#awaited = undefined;
    this.#socket.destroy();
  }

  #take(chunk) {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    this.#expected ??= this.#readHead();
    if (this.#expected === undefined || !this.#isWhole()) return;
    const all = Buffer.concat(this.#parts, this.#held);
    const { head, at } = this.#expected;
    const { done } = this.#awaited;
    this.#parts = [];
    this.#held = 0;
    this.#expected = undefined;
    done({ head, body: all.toString("utf8", at) });
  }

  #readHead() {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts, this.#held)];
    const end = this.#parts[0].indexOf(HEAD_END);
    if (end === -1) return undefined;
    const head = this.#parts[0].toString("latin1", 0, end).toLowerCase();
    const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
    return { head, at: end + 4, length: length === undefined ? undefined : Number(length) };
  }

  #isWhole() {
    const { at, length, head } = this.#expected;
    if (length !== undefined) return this.#held >= at + length;
    if (!head.includes("chunked")) return true;
    const last = this.#parts.at(-1);
    const tail = last.length >= LAST_CHUNK.length ? last : Buffer.concat(this.#parts.slice(-2));
    return tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) || (this.#held === at + 5 && tail.subarray(-5).equals(LAST_CHUNK.subarray(2)));
  }
}

/** A session of the legacy era on a connection of its own. */
export async function openSession(url) {
  const wire = new Wire(url);
  const { head } = await wire.post(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT } }));
  wire.headers = { "mcp-protocol-version": LEGACY, "mcp-session-id": /\r\nmcp-session-id: (\S+)/.exec(head)[1] };
  await wire.post(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  return callerOf(wire);
}

/** The same over a bare handler, which knows no sessions. */
export async function openBare(url) {
  return callerOf(new Wire(url));
}

function callerOf(wire) {
  let id = 0;
  return {
    /** Calls a tool; the answer must hold `marks` marks of progress and be at least `bytes` long. */
    async call(name, args, { bytes = 0, marks = 0 } = {}) {
      id += 1;
      const meta = marks > 0 ? { _meta: { progressToken: id } } : {};
      const { body } = await wire.post(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, ...meta } }));
      const isRight = body.length >= bytes && body.includes(`"id":${id}`) && body.includes('"result"') && !body.includes('"isError":true');
      if (!isRight || (marks > 0 && body.split("notifications/progress").length !== marks + 1)) throw new Error(`A wrong answer: ${body.slice(0, 500)}`);
    },
    close: () => wire.close(),
  };
}

const LEGACY = "2025-11-25";
const CLIENT = { name: "bench", version: "1" };
