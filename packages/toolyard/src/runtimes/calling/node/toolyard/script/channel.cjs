// The connection to the hub: JSON lines are written to one descriptor, answers are read from another.
"use strict";
const { fstatSync, writeSync } = require("node:fs");
const { Socket } = require("node:net");
const { parse, stringify } = require("./exact-json.cjs");

/**
 * A failed call. `kind` is an outcome code of the hub's table: tool_error, unknown_tool, invalid_params, denied,
 * limited, timeout, …
 */
class ToolError extends Error {
  constructor(message, { kind = "internal", details, result } = {}) {
    super(message);
    this.name = "ToolError";
    this.kind = kind;
    if (details !== undefined) this.details = details;
    if (result !== undefined) this.result = result;
  }
}

class Channel {
  #out;
  #into;
  #socket;
  #pending = new Map();
  #last = 0;
  #rest = [];
  #isGone = false;
  #onMessage;

  constructor(out, into) {
    this.#out = out;
    this.#into = into;
  }

  send(message) {
    let data = Buffer.from(`${stringify(message)}\n`);
    while (data.length > 0) {
      try {
        data = data.subarray(writeSync(this.#out, data));
      } catch (error) {
        // If the pipe is full (EAGAIN), the write is repeated, because the hub will soon read from it.
        if (error.code !== "EAGAIN") throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
  }

  request(method, params) {
    return new Promise((resolve, reject) => {
      if (this.#isGone) return reject(gone());
      this.#last += 1;
      const id = this.#last;
      this.send({ jsonrpc: "2.0", id, method, params });
      this.#pending.set(id, { resolve, reject });
      this.#listen();
    });
  }

  /** Passes each line that is not an answer to `onMessage`, until the hub ends. The process then exits. */
  serve(onMessage) {
    this.#onMessage = onMessage;
    this.#listen();
  }

  // The channel keeps the process running only while a request is pending.
  #listen() {
    if (this.#socket) return void this.#socket.ref();
    this.#socket = new Socket({ fd: this.#into, readable: true, writable: false });
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => this.#end());
  }

  #read(chunk) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#rest.push(chunk.subarray(start, end));
      this.#settle(Buffer.concat(this.#rest).toString("utf8"));
      this.#rest = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }

  #settle(line) {
    const message = parse(line);
    const { id, result, error } = message;
    const waiting = this.#pending.get(id);
    if (!waiting) return void this.#onMessage?.(message);
    this.#pending.delete(id);
    if (this.#pending.size === 0 && !this.#onMessage) this.#socket.unref();
    if (error) waiting.reject(new ToolError(error.message, error.data));
    else waiting.resolve(result);
  }

  #end() {
    this.#isGone = true;
    for (const { reject } of this.#pending.values()) reject(gone());
    this.#pending.clear();
    if (this.#onMessage) process.exit(0);
  }
}

const gone = () => new ToolError("The hub has exited.", { kind: "unavailable" });

let channel;

/** Returns the connection of this process, which is opened once. */
function current() {
  channel ??= open();
  return channel;
}

function open() {
  const [out, into] = (process.env.TOOLYARD_DESCRIPTORS ?? "").split(",").map(Number);
  try {
    fstatSync(out);
    fstatSync(into);
  } catch {
    throw new ToolError("This program was not started by a hub as a tool, so it cannot reach a hub.", {
      kind: "unavailable",
    });
  }
  return new Channel(out, into);
}

module.exports = { current, ToolError };
