import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { connect, type Socket } from "node:net";
import { hostname } from "node:os";
import { firstChars } from "../../core/text/truncate.ts";
import { BufferedSink, ChunkError, lineText, type LateLine, type LineSink, type SinkOptions } from "../line-sink.ts";

export interface SyslogAddress {
  readonly protocol: "udp" | "tcp";
  readonly host: string;
  readonly port: number;
  /** Number of the facility in RFC 5424. */
  readonly facility: number;
}

const NOTICE = 5;
const CONNECT_MS = 5000;
/** Time limit of one write. A receiver that stops reading gets a new connection. */
const WRITE_MS = 30_000;
const GATHER_MS = 50;
/** Maximum length of a message over UDP; receivers truncate longer ones (RFC 5426 section 3.2). */
const MAX_DATAGRAM_BYTES = 8192;
const MAX_HOST_CHARS = 255;

/** Sends lines to a syslog server as messages of RFC 5424, with JSON as their text. */
export function openSyslogSink(address: SyslogAddress, options: SinkOptions): LineSink {
  const sender = address.protocol === "udp" ? new DatagramSender(address) : new StreamSender(address);
  const sink = new BufferedSink((chunk) => sender.send(chunk), { ...options, gatherMs: GATHER_MS });
  const format = createFormatter(address.facility);
  return {
    write: (line) => sink.write(late(line, format)),
    close: async () => {
      await sink.close();
      sender.close();
    },
  };
}

function late(line: string | LateLine, format: (text: string) => string): LateLine {
  const chars = typeof line === "string" ? line.length : line.chars;
  return { chars: chars + 100, text: () => format(lineText(line)) };
}

/**
 * Formats `<PRI>1 TIME HOST APP PROCID MSGID STRUCTURED-DATA MSG` (RFC 5424 section 6). The message is JSON without
 * line breaks.
 */
function createFormatter(facility: number): (text: string) => string {
  const host = firstChars(hostname().replaceAll(/[^\x21-\x7e]/g, "-"), MAX_HOST_CHARS) || "-";
  const head = `<${facility * 8 + NOTICE}>1`;
  return (text) => `${head} ${new Date().toISOString()} ${host} toolyard ${process.pid} audit - ${text}`;
}

interface SyslogSender {
  /** Sends a chunk. Rejects with a `ChunkError` that contains the unsent rest. */
  send(chunk: Buffer): Promise<void>;
  close(): void;
}

/** One datagram for each message (RFC 5426). UDP reports no loss. */
class DatagramSender implements SyslogSender {
  readonly #address: SyslogAddress;
  readonly #socket: DatagramSocket;

  constructor(address: SyslogAddress) {
    this.#address = address;
    this.#socket = createSocket(address.host.includes(":") ? "udp6" : "udp4");
    this.#socket.on("error", () => {});
    this.#socket.unref();
  }

  async send(chunk: Buffer): Promise<void> {
    const lines = chunk.toString("utf8").split("\n").slice(0, -1);
    for (const [index, line] of lines.entries())
      try {
        await this.#sendOne(Buffer.from(line).subarray(0, MAX_DATAGRAM_BYTES));
      } catch (error) {
        throw new ChunkError(Buffer.from(`${lines.slice(index).join("\n")}\n`), false, { cause: error });
      }
  }

  close(): void {
    this.#socket.close();
  }

  #sendOne(message: Buffer): Promise<void> {
    const { port, host } = this.#address;
    return new Promise((resolve, reject) =>
      this.#socket.send(message, port, host, (error) => (error ? reject(error) : resolve())),
    );
  }
}

/** One kept connection; each message ends with a line feed (RFC 6587 section 3.4.2). */
class StreamSender implements SyslogSender {
  readonly #address: SyslogAddress;
  #socket: Socket | undefined;

  constructor(address: SyslogAddress) {
    this.#address = address;
  }

  async send(chunk: Buffer): Promise<void> {
    try {
      const socket = this.#socket?.writable === true ? this.#socket : await this.#connect();
      socket.setTimeout(WRITE_MS);
      await new Promise<void>((resolve, reject) => socket.write(chunk, (error) => (error ? reject(error) : resolve())));
      // Checked here, because Node reports no error for a write that a destroyed socket has interrupted.
      if (socket.destroyed) throw socket.errored ?? new Error("The connection was closed during a write");
      socket.setTimeout(0);
    } catch (error) {
      this.close();
      throw new ChunkError(chunk, false, { cause: error });
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Promise<Socket> {
    const { host, port } = this.#address;
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true, keepAlive: true });
      socket.unref();
      socket.setTimeout(CONNECT_MS);
      socket.on("timeout", () => socket.destroy(new Error(`${host}:${port} does not answer`)));
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.setTimeout(0);
        socket.off("error", reject);
        socket.on("error", () => socket.destroy());
        this.#socket = socket;
        resolve(socket);
      });
    });
  }
}
