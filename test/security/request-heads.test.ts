// Request heads that two parsers could interpret differently, or of which one would lose a part.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BOB, HEAD, RAW_ENDPOINTS, RawEndpoint, type RawCaller } from "./raw-endpoint.ts";

describe.each(RAW_ENDPOINTS)("with $workers process(es), $kind", (options) => {
  let endpoint: RawEndpoint;

  beforeAll(async () => {
    endpoint = await RawEndpoint.open(options);
  });
  afterEach(() => endpoint.disconnect());
  afterAll(() => endpoint[Symbol.asyncDispose]());

  const LENGTHS = ["\t2", "2\t", " \t2", "\t2\t", "  2", "2 ", " 2 ", "\v2", "2,2", "0x2", "2e0", " +2", "", "２"];
  test.each(LENGTHS)("answers a Content-Length of %j like Node's parser", async (value) => {
    const raw = (length: string): string => `POST /length HTTP/1.1\r\n${BOB}Content-Length:${length}\r\n\r\n{}`;
    const [own, node] = [endpoint.connect(), endpoint.connect()];
    node.socket.write(`OPTIONS /healthz HTTP/1.1\r\n${HEAD}\r\n`);
    await node.until(/\r\n\r\n/);
    node.text = "";
    own.socket.write(Buffer.from(raw(value), "latin1"));
    node.socket.write(Buffer.from(raw(value), "latin1"));
    const statusOf = async (caller: RawCaller): Promise<string> => (await caller.until(/HTTP\/1\.1 \d+/)).slice(9, 12);
    const expected = await statusOf(node);
    expect(await statusOf(own)).toBe(expected);
    // Node 24 accepts a tab after the digits; earlier versions refuse it.
    expect(expected).toMatch(value.endsWith("\t") ? /^(?:200|400)$/ : /^\d{3}$/);
  });

  test.each(["Content-Length:\t4", "Content-Length: \t 4", "Content-Length:4\t", "Content-Length:\t4\t"])(
    "a field %j is refused or read as length 4, and the next request begins after those bytes",
    async (field) => {
      const caller = endpoint.connect();
      caller.socket.write(`POST /length HTTP/1.1\r\n${BOB}${field}\r\n\r\n{  }GET /length HTTP/1.1\r\n${BOB}\r\n`);
      const first = await caller.until(/HTTP\/1\.1 (?:400|200[^]*bytes from)/);
      if (first.startsWith("HTTP/1.1 400")) expect(await caller.ended()).not.toContain("HTTP/1.1 200");
      else expect(await caller.until(/4 bytes[^]*HTTP\/1\.1 /)).toMatch(/4 bytes from[^]*HTTP\/1\.1 200[^]*\b0 bytes/);
    },
  );

  const UNCLEAR = [
    "Content-Length\t: 2",
    "Content-Length : 2",
    "\tContent-Length: 2",
    " Content-Length: 2",
    "X: a\r\n\tContent-Length: 2",
    "X: a\r\n Content-Length: 2",
    "Content-Length:\r\n 2",
    "Content-Length:\r\n\t2",
    "Content-Length: 1\r\n 2",
    "X:\r\n b\r\nContent-Length: 2",
    "X: a\r\n\t\r\nContent-Length: 2",
    "X\t: a\r\nContent-Length: 2",
    "Transfer-Encoding:\r\n chunked",
    "Transfer-Encoding\t: chunked",
    "Content-Length: 2\r\nContent-Length: 3",
    "Content-Length: 2\r\nTransfer-Encoding: chunked",
  ];
  test.each(UNCLEAR)("answers 400 to a head that two parsers interpret differently: %j", async (field) => {
    const raw = `POST /length HTTP/1.1\r\n${BOB}${field}\r\n\r\n{}GET /length HTTP/1.1\r\n${BOB}\r\n`;
    const [first, later] = [endpoint.connect(), endpoint.connect()];
    first.socket.write(raw);
    // Checks the same after a request that Node's parser has answered.
    later.socket.write(`OPTIONS /healthz HTTP/1.1\r\n${HEAD}\r\n`);
    await later.until(/\r\n\r\n/);
    later.text = "";
    later.socket.write(raw);
    for (const caller of [first, later]) {
      expect(await caller.ended()).toMatch(/^HTTP\/1\.1 400/);
      expect(caller.text).not.toContain("HTTP/1.1 200");
    }
  });

  const fields = (count: number): string => Array.from({ length: count }, (_, at) => `x${at}:\r\n`).join("");
  test("reads 2,000 header fields including the last X-Forwarded-For, and answers 431 to 2,001", async () => {
    const send = (count: number): RawCaller => {
      const caller = endpoint.connect();
      const last = "X-Forwarded-For: 192.0.2.7\r\n";
      caller.socket.write(`GET /length HTTP/1.1\r\n${BOB}${fields(count - 3)}${last}\r\n`);
      return caller;
    };
    expect(await send(2000).until(/from/)).toContain("from 192.0.2.7");
    for (const count of [2001, 2002, 2500]) expect(await send(count).ended()).toMatch(/^HTTP\/1\.1 431/);
  });

  test.each(["Host: localhost\r\n", "host: evil.example\r\n", "HOST:\r\n", "X-A: b\r\nHost: localhost\r\n"])(
    "answers 400 to a second Host: %j",
    async (more) => {
      const caller = endpoint.connect();
      caller.socket.write(`GET /length HTTP/1.1\r\n${BOB}${more}\r\n`);
      expect(await caller.ended()).toMatch(/^HTTP\/1\.1 400/);
    },
  );
});
