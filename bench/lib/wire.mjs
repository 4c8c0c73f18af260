// A client that costs almost nothing: HTTP/1.1 over sockets, one request at a time on each. It reads answers with a
// length, in chunks, plain and as events. It checks that each is the result of its own request, with the expected
// content.
import { connect } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

/** One connection. `headers` are sent with each request. */
export class Wire {
  #socket;
  #url;
  #parts;
  #held;
  #awaited;
  #expected;
  headers = {};

  constructor(url) {
    this.#url = new URL(url);
    this.#connect();
  }

  /** Sends a body, and resolves with the answer's head and its body without chunk sizes. */
  post(body) {
    if (this.#socket.destroyed) this.#connect();
    const { host, pathname, search } = this.#url;
    const headers = Object.entries(this.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head =
      `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Accept: application/json, text/event-stream\r\n${headers.join("")}Content-Length: ` +
      `${Buffer.byteLength(body)}\r\n\r\n`;
    return new Promise((done, failed) => {
      this.#awaited = { done, failed };
      this.#socket.write(head + body);
    });
  }

  /** Replaces an idle connection, which the server may be about to close. */
  renew() {
    this.close();
    const socket = this.#connect();
    return new Promise((done, failed) => socket.once("connect", done).once("error", failed));
  }

  close() {
    this.#awaited = undefined;
    this.#socket.destroy();
  }

  #connect() {
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
    const fail = (error) => {
      if (socket === this.#socket) this.#awaited?.failed(error);
    };
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("The connection was closed.")));
    this.#socket = socket;
    this.#begin();
    return socket;
  }

  #begin() {
    this.#parts = [];
    this.#held = 0;
    this.#expected = undefined;
  }

  #take(chunk) {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    this.#expected ??= this.#readHead();
    if (this.#expected === undefined || !this.#isWhole() || this.#awaited === undefined) return;
    const all = Buffer.concat(this.#parts, this.#held);
    const { head, at, isChunked } = this.#expected;
    const { done } = this.#awaited;
    this.#awaited = undefined;
    this.#begin();
    if (/\r\nconnection: *close/i.test(head)) this.#socket.destroy();
    done({ head, body: isChunked ? unchunked(all, at) : all.toString("utf8", at) });
  }

  #readHead() {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts, this.#held)];
    const end = this.#parts[0].indexOf(HEAD_END);
    if (end === -1) return undefined;
    const head = this.#parts[0].toString("latin1", 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    return {
      head,
      at: end + 4,
      length: length === undefined ? undefined : Number(length),
      isChunked: /\r\ntransfer-encoding: *chunked/i.test(head),
    };
  }

  #isWhole() {
    const { at, length, isChunked } = this.#expected;
    if (length !== undefined) return this.#held >= at + length;
    if (!isChunked) return true;
    const last = this.#parts.at(-1);
    const tail = last.length >= LAST_CHUNK.length ? last : Buffer.concat(this.#parts.slice(-2));
    return (
      tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) ||
      (this.#held === at + 5 && tail.subarray(-5).equals(LAST_CHUNK.subarray(2)))
    );
  }
}

function unchunked(all, start) {
  const chunks = [];
  let at = start;
  for (;;) {
    const end = all.indexOf("\r\n", at);
    const size = Number.parseInt(all.toString("latin1", at, end), 16);
    if (!(size > 0)) return (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString("utf8");
    chunks.push(all.subarray(end + 2, end + 2 + size));
    at = end + size + 4;
  }
}

/**
 * Opens a session of the legacy era on its own connection. The session uses the version that the server chose, and an
 * id if the server returned one.
 */
export async function openSession(url) {
  const wire = new Wire(url);
  const { head, body } = await posted(wire, { jsonrpc: "2.0", id: 0, ...INITIALIZE });
  const session = /\r\nmcp-session-id: *(\S+)/i.exec(head)?.[1];
  wire.headers = { "mcp-protocol-version": chosenVersion(body), ...(session && { "mcp-session-id": session }) };
  await posted(wire, INITIALIZED);
  return callerOf(wire, url);
}

/** Opens a connection to a minimal handler without sessions. */
export async function openBare(url) {
  return callerOf(new Wire(url), url);
}

/** Returns the answer. Throws if its status is not a success. */
export async function posted(wire, message) {
  const answer = await wire.post(JSON.stringify(message));
  if (!answer.head.startsWith("HTTP/1.1 2"))
    throw new Error(`${answer.head.slice(9, answer.head.indexOf("\r"))}: ${answer.body.slice(0, 200)}`);
  return answer;
}

function callerOf(wire, url, ids = { last: 0 }) {
  return {
    /** Calls a tool; `due` is the expected content of the answer. */
    async call(name, args, due) {
      const id = (ids.last += 1);
      const { body } = await posted(wire, callMessage(id, { name, arguments: args }, due));
      check(body, { id, ...due });
    },
    /** Returns a further caller in the same session, on its own connection. */
    beside() {
      const own = new Wire(url);
      own.headers = wire.headers;
      return callerOf(own, url, ids);
    },
    renew: () => wire.renew(),
    close: () => wire.close(),
  };
}

/** Returns a call message; it requests progress if progress is expected. */
export function callMessage(id, wanted, { marks = 0 } = {}) {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { ...wanted, ...(marks > 0 && { _meta: { progressToken: id } }) },
  };
}

/**
 * Checks that an answer belongs to the request `id` (unless the protocol has none), and has the expected length, text
 * and progress.
 */
// oxlint-disable-next-line complexity -- One line a fault of an answer.
export function check(body, { id, bytes = 0, text = "", marks = 0 }) {
  const isItsOwn = id === undefined || body.includes(`"id":${id},`) || body.includes(`"id":${id}}`);
  const isResult = body.includes('"result"') && !body.includes('"isError":true');
  if (!isItsOwn || !isResult || body.length < bytes || !body.includes(text))
    throw new Error(`a wrong answer: ${body.slice(0, 300)}`);
  const found = marks === 0 ? 0 : body.split("notifications/progress").length - 1;
  if (found !== marks) throw new Error(`loses progress: ${found} of ${marks} notices with the answer`);
}

export const chosenVersion = (body) => /"protocolVersion":"([\d-]+)"/.exec(body)?.[1] ?? LEGACY;

const LEGACY = "2025-11-25";
const CLIENT = { name: "bench", version: "1" };
export const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT },
};
export const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
