// Clients that send more than they read or finish: half-sent bodies, pipelined requests, heads that two readers could
// understand in two ways. With one process and with workers, in plain and over TLS.
import { once } from "node:events";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../src/core/ports.ts";
import type { PortListener } from "../../src/http/listener.ts";
import { resolveHttp } from "../../src/http/options.ts";
import { sendText } from "../../src/http/send.ts";
import { CertificateFiles } from "../support/certificates.ts";
import { createTestListener } from "../support/test-listener.ts";

const BODY_BYTES = 100_000;
const STALL_MS = 800;
/** More than the system holds for a connection. */
const LARGE_BYTES = 60_000_000;
const HEAD = "Host: localhost\r\n";
const ADA = `${HEAD}Authorization: Bearer token-of-ada\r\n`;
const BOB = `${HEAD}Authorization: Bearer token-of-bob\r\n`;
const post = (headers: string, bytes: number, path = "/length"): string =>
  `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${bytes}\r\n\r\n`;

/** A client that writes raw bytes and keeps the text of all answers. */
class RawCaller {
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

describe.each([1, 2])("with %i process(es)", (workers) => {
  describe.each(["plain", "TLS"] as const)("over %s", (kind) => {
    const files = new CertificateFiles();
    let listener: PortListener;
    let port: number;
    let release = (): void => {};
    const callers: RawCaller[] = [];

    beforeAll(async () => {
      const options = resolveHttp({
        port: 0,
        max_body_bytes: BODY_BYTES,
        max_stream_backlog_bytes: 2 * LARGE_BYTES,
        max_arriving_bytes: 4 * BODY_BYTES * workers,
        shutdown_grace: 200,
        stream_stall: STALL_MS,
        tokens: { ada: { token: "token-of-ada" }, bob: { token: "token-of-bob" } },
        trusted_proxy: ["127.0.0.1"],
        ...(kind === "TLS" && { tls: { cert: files.cert, key: files.key } }),
      });
      listener = createTestListener(options, SILENT_LOGGER, workers);
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
        await new Promise<void>((resolve) => (release = resolve));
        sendText(answer, 200, "waited");
      });
      if (kind === "TLS") await listener.certify({ cert: files.read("cert"), key: files.read("key") } as never);
      ({ port } = await listener.listen());
    });
    afterEach(() => {
      for (const { socket } of callers.splice(0)) socket.destroy();
    });
    afterAll(async () => {
      await listener.close();
      files[Symbol.dispose]();
    });

    const open = (): RawCaller => {
      const socket =
        kind === "TLS"
          ? connectSecure({ port, host: "127.0.0.1", ca: files.authority.cert })
          : connectPlain({ port, host: "127.0.0.1" });
      const caller = new RawCaller(socket);
      callers.push(caller);
      return caller;
    };
    const flood = (head: string, count: number): RawCaller[] =>
      Array.from({ length: count }, () => {
        const caller = open();
        caller.socket.write(head);
        caller.socket.write(Buffer.alloc(BODY_BYTES - 1, 0x20));
        return caller;
      });

    test.each([
      ["of known length", post(ADA, BODY_BYTES)],
      ["in chunks", `POST /length HTTP/1.1\r\n${ADA}Transfer-Encoding: chunked\r\n\r\n${BODY_BYTES.toString(16)}\r\n`],
    ])("half-sent bodies %s of one token are bounded, and another token sends its own", async (_what, head) => {
      const flooding = flood(head, 12 * workers);
      // At most half of 4 bodies stay, in each process.
      const refused = await Promise.any(
        flooding.map(async (caller) => {
          const text = await caller.until(/HTTP\/1\.1 503/);
          return text;
        }),
      );
      expect(refused).toContain("arrives slowest");
      await Promise.all(flooding.map((caller) => caller.socket.closed || waitOrRefused(caller, flooding, 2 * workers)));
      const bob = open();
      bob.socket.write(post(BOB, BODY_BYTES));
      bob.socket.write(Buffer.alloc(BODY_BYTES, 0x20));
      expect(await bob.until(/bytes from/)).toContain(`${BODY_BYTES} bytes`);
      expect(flooding.filter(({ text }) => text === "").length).toBeLessThanOrEqual(2 * workers);
    });

    /** Resolves when a connection was refused, or so few are left that none needs to be. */
    async function waitOrRefused(caller: RawCaller, all: readonly RawCaller[], left: number): Promise<void> {
      while (!caller.socket.closed && all.filter(({ text }) => text === "").length > left)
        await new Promise((resolve) => setImmediate(resolve));
    }

    test("a body without a valid token is dropped, and the connection goes on behind it", async () => {
      const caller = open();
      caller.socket.write(post(HEAD, BODY_BYTES));
      await caller.until(/HTTP\/1\.1 401/);
      caller.socket.write(Buffer.alloc(BODY_BYTES, 0x20));
      caller.socket.write(`${post(BOB, 2)}{}`);
      expect(await caller.until(/bytes from/)).toContain("2 bytes");
    });

    test("a body that its handler does not read is dropped, and the connection goes on behind it", async () => {
      const caller = open();
      caller.socket.write(post(BOB, 50_000, "/unread"));
      caller.socket.write(Buffer.alloc(50_000, 0x20));
      caller.socket.write(`${post(BOB, 2)}{}`);
      expect(await caller.until(/bytes from/)).toMatch(/unread[^]*2 bytes/);
    });

    test.each([
      ["plain", post(HEAD, 0)],
      ["plain, with a body", `${post(HEAD, 2)}{}`],
      ["those of Node's reader", `POST /length HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ])("pipelined requests without a token (%s) keep nobody waiting and end with their connection", async (_, raw) => {
      const flooding = Array.from({ length: 10 }, () => {
        const caller = open();
        caller.socket.write(raw.repeat(500));
        return caller;
      });
      await flooding[0]!.until(/HTTP\/1\.1 401/);
      const bob = open();
      bob.socket.write(`${post(BOB, 2)}{}`);
      await bob.until(/2 bytes/);
      // Each connection is closed after its hundredth refusal, or sooner where the address has had too many.
      for (const caller of flooding) {
        expect((await caller.ended()).split("HTTP/1.1 401").length - 1).toBeLessThanOrEqual(101);
      }
    });

    test("pipelined requests wait for the answer before them and are answered in their order", async () => {
      const caller = open();
      caller.socket.write(`${post(BOB, 2, "/wait")}{}${post(BOB, 3)}{ }${post(BOB, 4)}{  }`);
      const other = open();
      while (!other.text.includes("2 bytes")) {
        other.text = "";
        other.socket.write(`${post(BOB, 2)}{}`);
        await other.until(/2 bytes/);
        release();
      }
      for (let turn = 0; !caller.text.includes("4 bytes"); turn += 1) {
        release();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(caller.text).toMatch(/waited[^]*3 bytes[^]*4 bytes/);
    });

    /** Reads an answer in pieces with pauses of `pauseMs(piece)`; resolves with its bytes when no more come. */
    const readInPieces = (path: string, more: string, pauseMs: (bytes: number) => number): Promise<number> =>
      new Promise((resolve) => {
        const { socket } = open();
        let bytes = 0;
        socket.removeAllListeners("data").on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes >= LARGE_BYTES) return resolve(bytes);
          const ms = pauseMs(chunk.length);
          if (ms === 0) return;
          socket.pause();
          setTimeout(() => socket.resume(), ms);
        });
        socket.once("close", () => resolve(bytes));
        socket.write(`GET ${path} HTTP/1.1\r\n${BOB}${more}\r\n`);
      });
    // Each kind of answer once plain and once over TLS; `reader-watch.test.ts` has the rule.
    const [what, path] = workers === 1 ? ["a whole answer", "/large"] : ["an event stream", "/streamed"];
    const more = kind === "TLS" ? "" : "Connection: close\r\n";

    test(`a slow reader gets ${what}, in more than twice the time of a stall`, async () => {
      const until = performance.now() + 2.5 * STALL_MS;
      // About 16 MB a second, then as fast as it comes.
      const pauseMs = (bytes: number): number => (performance.now() < until ? bytes / 16_000 : 0);
      expect(await readInPieces(path!, more, pauseMs)).toBeGreaterThanOrEqual(LARGE_BYTES);
    });

    test(`a reader that stops does not get the rest of ${what}`, async () => {
      let pauses = 0;
      const bytes = await readInPieces(path!, more, () => (pauses++ === 0 ? 3 * STALL_MS : 0));
      expect(bytes).toBeLessThan(LARGE_BYTES);
    });

    const LENGTHS = ["\t2", "2\t", " \t2", "\t2\t", "  2", "2 ", " 2 ", "\v2", "2,2", "0x2", "2e0", " +2", "", "２"];
    test.each(LENGTHS)("a Content-Length of %j is answered as Node's reader answers it", async (value) => {
      const raw = (length: string): string => `POST /length HTTP/1.1\r\n${BOB}Content-Length:${length}\r\n\r\n{}`;
      const [own, node] = [open(), open()];
      node.socket.write(`OPTIONS /healthz HTTP/1.1\r\n${HEAD}\r\n`);
      await node.until(/\r\n\r\n/);
      node.text = "";
      own.socket.write(Buffer.from(raw(value), "latin1"));
      node.socket.write(Buffer.from(raw(value), "latin1"));
      const statusOf = async (caller: RawCaller): Promise<string> =>
        (await caller.until(/HTTP\/1\.1 \d+/)).slice(9, 12);
      const expected = await statusOf(node);
      expect(await statusOf(own)).toBe(expected);
      if (value.endsWith("\t")) expect(expected).toBe("400");
    });

    const fields = (count: number): string => Array.from({ length: count }, (_, at) => `x${at}:\r\n`).join("");
    test("2,000 header fields are read, the last of them X-Forwarded-For; one more is refused with 431", async () => {
      const send = (count: number): RawCaller => {
        const caller = open();
        const last = "X-Forwarded-For: 192.0.2.7\r\n";
        caller.socket.write(`GET /length HTTP/1.1\r\n${BOB}${fields(count - 3)}${last}\r\n`);
        return caller;
      };
      expect(await send(2000).until(/from/)).toContain("from 192.0.2.7");
      for (const count of [2001, 2002, 2500]) expect(await send(count).ended()).toMatch(/^HTTP\/1\.1 431/);
    });

    test.each(["Host: localhost\r\n", "host: evil.example\r\n", "HOST:\r\n", "X-A: b\r\nHost: localhost\r\n"])(
      "a second Host is refused with 400: %j",
      async (more) => {
        const caller = open();
        caller.socket.write(`GET /length HTTP/1.1\r\n${BOB}${more}\r\n`);
        expect(await caller.ended()).toMatch(/^HTTP\/1\.1 400/);
      },
    );
  });
});
