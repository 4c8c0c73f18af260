// Two more ways to call, for peers without Streamable HTTP: a REST route, and the older transport HTTP+SSE.
import { connect } from "node:net";
import { INITIALIZE, INITIALIZED, Wire, callMessage, check, posted } from "./wire.mjs";

/** Opens mcp-hub's own route for calls. It has no ids, and only the answer can be returned. */
export async function openRest(url, server) {
  const wire = new Wire(url);
  return {
    async call(tool, args, due) {
      const { body } = await posted(wire, { server_name: server, tool, arguments: args });
      check(body, due ?? {});
    },
    renew: () => wire.renew(),
    close: () => wire.close(),
  };
}

/** Opens a session over HTTP+SSE: requests are posted, answers arrive as events on one stream. */
export async function openEvents(url) {
  const events = new Events(url);
  const path = await events.next(({ event }) => event === "endpoint");
  const wire = new Wire(new URL(path.data, url));
  const ask = async (message) => {
    const answered = events.next(({ data }) => answers(data, message.id));
    const [{ data, before }] = await Promise.all([answered, posted(wire, message)]);
    return before + data;
  };
  await ask({ jsonrpc: "2.0", id: 0, ...INITIALIZE });
  await posted(wire, INITIALIZED);
  let id = 0;
  return {
    async call(name, args, due) {
      id += 1;
      check(await ask(callMessage(id, { name, arguments: args }, due)), { id, ...due });
    },
    renew: () => wire.renew(),
    close() {
      wire.close();
      events.close();
    },
  };
}

const answers = (data, id) => data.includes(`"id":${id},`) || data.includes(`"id":${id}}`);

/** The stream of events of one session. */
class Events {
  #socket;
  #raw = Buffer.alloc(0);
  #text = "";
  #isPastHead = false;
  #before = "";
  #awaited;

  constructor(url) {
    const { hostname, port, host, pathname } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`);
    this.#socket.on("data", (chunk) => this.#take(chunk));
    this.#socket.on("error", (error) => this.#awaited?.failed(error));
    this.#socket.on("close", () => this.#awaited?.failed(new Error("The stream was closed.")));
  }

  /** Returns the next matching event; `before` is the data of the earlier ones. */
  next(isIt) {
    this.#before = "";
    return new Promise((done, failed) => {
      this.#awaited = { isIt, done, failed };
    });
  }

  close() {
    this.#awaited = undefined;
    this.#socket.destroy();
  }

  #take(chunk) {
    this.#raw = this.#raw.length === 0 ? chunk : Buffer.concat([this.#raw, chunk]);
    if (!this.#isPastHead) {
      const end = this.#raw.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#isPastHead = true;
      this.#raw = this.#raw.subarray(end + 4);
    }
    for (let payload = this.#nextChunk(); payload !== undefined; payload = this.#nextChunk()) this.#text += payload;
    for (let end = this.#text.indexOf("\n\n"); end !== -1; end = this.#text.indexOf("\n\n")) {
      const event = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      this.#tell(event);
    }
  }

  /**
   * Returns a complete chunk of the transfer. Chunks are read one byte per character, since one may end inside a
   * character.
   */
  #nextChunk() {
    const end = this.#raw.indexOf("\r\n");
    if (end === -1) return undefined;
    const size = Number.parseInt(this.#raw.toString("latin1", 0, end), 16);
    if (this.#raw.length < end + size + 4) return undefined;
    const payload = this.#raw.toString("latin1", end + 2, end + 2 + size);
    this.#raw = this.#raw.subarray(end + size + 4);
    return payload;
  }

  #tell(text) {
    const event = /^event: *(.*)$/m.exec(text)?.[1];
    const data = /^data: *(.*)$/m.exec(text)?.[1] ?? "";
    if (!this.#awaited?.isIt({ event, data })) {
      this.#before += data;
      return;
    }
    const { done } = this.#awaited;
    this.#awaited = undefined;
    done({ data, before: this.#before });
  }
}
