// Clients that send more than they finish: half-sent bodies and pipelined requests.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ADA, BOB, BODY_BYTES, HEAD, post, RAW_ENDPOINTS, RawEndpoint, type RawCaller } from "./raw-endpoint.ts";

describe.each(RAW_ENDPOINTS)("with $workers process(es), $kind", (options) => {
  let endpoint: RawEndpoint;

  beforeAll(async () => {
    endpoint = await RawEndpoint.open(options);
  });
  afterEach(() => endpoint.disconnect());
  afterAll(() => endpoint[Symbol.asyncDispose]());

  const flood = (head: string, count: number): RawCaller[] =>
    Array.from({ length: count }, () => {
      const caller = endpoint.connect();
      caller.socket.write(head);
      caller.socket.write(Buffer.alloc(BODY_BYTES - 1, 0x20));
      return caller;
    });

  test.each([
    ["of known length", post(ADA, BODY_BYTES)],
    ["in chunks", `POST /length HTTP/1.1\r\n${ADA}Transfer-Encoding: chunked\r\n\r\n${BODY_BYTES.toString(16)}\r\n`],
  ])("limits half-sent bodies %s of one token, and accepts those of another token", async (_what, head) => {
    const flooding = flood(head, 12 * options.workers);
    // At most half of 4 bodies may be pending, in each process.
    const refused = await Promise.any(
      flooding.map(async (caller) => {
        const text = await caller.until(/HTTP\/1\.1 503/);
        return text;
      }),
    );
    expect(refused).toContain("arrives slowest");
    await Promise.all(
      flooding.map((caller) => caller.socket.closed || waitOrRefused(caller, flooding, 2 * options.workers)),
    );
    const bob = endpoint.connect();
    bob.socket.write(post(BOB, BODY_BYTES));
    bob.socket.write(Buffer.alloc(BODY_BYTES, 0x20));
    expect(await bob.until(/bytes from/)).toContain(`${BODY_BYTES} bytes`);
    expect(flooding.filter(({ text }) => text === "").length).toBeLessThanOrEqual(2 * options.workers);
  });

  /** Resolves when a connection was refused, or when few enough are left. */
  async function waitOrRefused(caller: RawCaller, all: readonly RawCaller[], left: number): Promise<void> {
    while (!caller.socket.closed && all.filter(({ text }) => text === "").length > left)
      await new Promise((resolve) => setImmediate(resolve));
  }

  test("drops a body without a valid token and keeps the connection", async () => {
    const caller = endpoint.connect();
    caller.socket.write(post(HEAD, BODY_BYTES));
    await caller.until(/HTTP\/1\.1 401/);
    caller.socket.write(Buffer.alloc(BODY_BYTES, 0x20));
    caller.socket.write(`${post(BOB, 2)}{}`);
    expect(await caller.until(/bytes from/)).toContain("2 bytes");
  });

  test("drops a body that its handler does not read and keeps the connection", async () => {
    const caller = endpoint.connect();
    caller.socket.write(post(BOB, 50_000, "/unread"));
    caller.socket.write(Buffer.alloc(50_000, 0x20));
    caller.socket.write(`${post(BOB, 2)}{}`);
    expect(await caller.until(/bytes from/)).toMatch(/unread[^]*2 bytes/);
  });

  test.each([
    ["plain", post(HEAD, 0)],
    ["plain, with a body", `${post(HEAD, 2)}{}`],
    ["those of Node's reader", `POST /length HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ])("pipelined requests without a token (%s) delay no other caller and end with their connection", async (_, raw) => {
    const flooding = Array.from({ length: 10 }, () => {
      const caller = endpoint.connect();
      caller.socket.write(raw.repeat(500));
      return caller;
    });
    await flooding[0]!.until(/HTTP\/1\.1 401/);
    const bob = endpoint.connect();
    bob.socket.write(`${post(BOB, 2)}{}`);
    await bob.until(/2 bytes/);
    // Each connection is closed after its hundredth refusal, or earlier if the address has had too many.
    for (const caller of flooding) {
      expect((await caller.ended()).split("HTTP/1.1 401").length - 1).toBeLessThanOrEqual(101);
    }
  });

  test.each([
    ["one byte", "1\r\nx\r\n", BODY_BYTES],
    ["one byte with an extension", "1;a=b\r\nx\r\n", BODY_BYTES],
    ["two bytes with zeros before the length", "0002\r\nxx\r\n", BODY_BYTES / 2],
  ])("accepts a whole chunked body of %s, and meanwhile answers another caller", async (_, unit, count) => {
    const [caller, other] = [endpoint.connect(), endpoint.connect()];
    other.socket.write(`${post(BOB, 2)}{}`);
    await other.until(/2 bytes/);
    caller.socket.write(`POST /length HTTP/1.1\r\n${ADA}Transfer-Encoding: chunked\r\n\r\n`);
    caller.socket.write(`${unit.repeat(count)}0\r\n\r\n`);
    other.socket.write(`${post(BOB, 3)}{ }`);
    await other.until(/3 bytes/);
    expect(caller.text).toBe("");
    expect(await caller.until(/bytes from/)).toContain(`${BODY_BYTES} bytes`);
    caller.socket.write(`${post(ADA, 2)}{}`);
    expect(await caller.until(/2 bytes from/)).not.toContain("HTTP/1.1 4");
  });

  test("pipelined requests wait for the answer before them and are answered in their order", async () => {
    const caller = endpoint.connect();
    caller.socket.write(`${post(BOB, 2, "/wait")}{}${post(BOB, 3)}{ }${post(BOB, 4)}{  }`);
    const other = endpoint.connect();
    while (!other.text.includes("2 bytes")) {
      other.text = "";
      other.socket.write(`${post(BOB, 2)}{}`);
      await other.until(/2 bytes/);
      endpoint.release();
    }
    for (let turn = 0; !caller.text.includes("4 bytes"); turn += 1) {
      endpoint.release();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(caller.text).toMatch(/waited[^]*3 bytes[^]*4 bytes/);
  });
});
