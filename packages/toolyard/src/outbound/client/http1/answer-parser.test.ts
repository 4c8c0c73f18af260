import { expect, test } from "vitest";
import { AnswerParser } from "./answer-parser.ts";
import type { ResponseHead } from "./head.ts";

/** Parses one answer that arrives in the given pieces. */
function parse(pieces: readonly Buffer[]): { head: ResponseHead; body: string; used: number; isOver: boolean } {
  const heads: ResponseHead[] = [];
  let body = "";
  const parser = new AnswerParser({
    onInterim: () => {},
    onHead: (head) => void heads.push(head),
    onData: (data) => {
      body += data.toString("latin1");
    },
  });
  let used = 0;
  for (const piece of pieces) used += parser.feed(piece);
  return { head: heads[0]!, body, used, isOver: parser.isOver };
}

const whole = (text: string): Buffer[] => [Buffer.from(text, "latin1")];
const bytewise = (text: string): Buffer[] => Array.from(text, (one) => Buffer.from(one, "latin1"));

const H = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${H}Transfer-Encoding: chunked\r\n\r\n`;

const ACCEPTED: readonly (readonly [what: string, text: string, body: string])[] = [
  ["a length", `${H}Content-Length: 5\r\n\r\nhello`, "hello"],
  ["an empty body", `${H}Content-Length: 0\r\n\r\n`, ""],
  ["chunks", `${CHUNKED}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, "hello world"],
  ["chunks with extensions and a trailer", `${CHUNKED}5;a=b;c="d"\r\nhello\r\n0;z\r\nX-Sum: 1\r\n\r\n`, "hello"],
  ["sizes with leading zeros and capitals", `${CHUNKED}000A\r\n0123456789\r\n000\r\n\r\n`, "0123456789"],
  [
    "interim answers before it",
    `HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n${H}content-length: 1\r\n\r\n!`,
    "!",
  ],
  ["a reason in Latin-1, and none", "HTTP/1.1 204 Schön\r\n\r\n", ""],
  ["a status without a reason", "HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno", "no"],
  ["204 with a length of nothing", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", ""],
  ["blanks around a value", `${H}Content-Length: \t 2 \t\r\n\r\nok`, "ok"],
];

test.each(ACCEPTED)("parses %s, whole and byte by byte", (_, text, body) => {
  for (const pieces of [whole(text), bytewise(text)])
    expect(parse(pieces)).toMatchObject({ body, used: text.length, isOver: true });
});

test.each(ACCEPTED)("parses %s in two pieces, split anywhere", (_, text, body) => {
  for (let at = 1; at < text.length; at += 1)
    expect(parse([...whole(text.slice(0, at)), ...whole(text.slice(at))])).toMatchObject({ body, isOver: true });
});

test("parses consecutive answers with equal or different heads, each with its own head", () => {
  const told: string[] = [];
  const parser = new AnswerParser({
    onInterim: () => {},
    onHead: ({ status, header, keepsAlive }) => void told.push(`${status} ${header("x")} ${keepsAlive}`),
    onData: (data) => void told.push(data.toString("latin1")),
  });
  const ok = `${H}X: 1\r\nContent-Length: 1\r\n\r\na`;
  const other = `${H}X: 2\r\nContent-Length: 1\r\n\r\nb`;
  const last = "HTTP/1.1 500 No\r\nX: 2\r\nConnection: close\r\nContent-Length: 1\r\n\r\nc";
  for (const pieces of [whole(ok), whole(ok), bytewise(ok), whole(other), whole(ok), whole(last)]) {
    parser.reset();
    for (const piece of pieces) parser.feed(piece);
  }
  expect(told).toEqual(
    ["200 1 true", "a", "200 1 true", "a", "200 1 true", "a", "200 2 true", "b", "200 1 true", "a"].concat([
      "500 2 false",
      "c",
    ]),
  );
});

const REFUSED: readonly (readonly [what: string, text: string])[] = [
  ["no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
  ["an old HTTP without a head", "<html>hello</html>\r\n\r\n"],
  ["HTTP/2 in plain text", "HTTP/2 200 OK\r\n\r\n"],
  ["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n"],
  ["an empty line before the status line", `\r\n${H}\r\n`],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["a status below 100", "HTTP/1.1 099 OK\r\n\r\n"],
  ["two spaces before the status", "HTTP/1.1  200 OK\r\n\r\n"],
  ["bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"],
  ["one bare line feed", `${H}A: b\nContent-Length: 0\r\n\r\n`],
  ["a bare carriage return", `${H}A: b\rContent-Length: 0\r\n\r\n`],
  ["a line feed before the end of the head", `${H}A: b\n\r\n\r\n`],
  ["a NUL in a value", `${H}A: b\0c\r\n\r\n`],
  ["a folded line", `${H}A: b\r\n c\r\n\r\n`],
  ["a line folded by a tab", `${H}Content-Length: 0\r\n\tA: c\r\n\r\n`],
  ["a blank before a colon", `${H}Content-Length : 0\r\n\r\n`],
  ["a field without a colon", `${H}Content-Length\r\n\r\n`],
  ["a field without a name", `${H}: a\r\n\r\n`],
  ["a length with a sign", `${H}Content-Length: +5\r\n\r\nhello`],
  ["a length below zero", `${H}Content-Length: -5\r\n\r\nhello`],
  ["a length in hexadecimal", `${H}Content-Length: 0x5\r\n\r\nhello`],
  ["an empty length", `${H}Content-Length:\r\n\r\nhello`],
  ["a length beyond counting", `${H}Content-Length: 99999999999999999999\r\n\r\nhello`],
  ["two lengths that differ", `${H}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
  ["the same length twice", `${H}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
  ["a list of lengths", `${H}Content-Length: 5, 5\r\n\r\nhello`],
  ["a length and chunks", `${H}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["chunks and a length", `${H}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
  ["chunks of an old server", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["another encoding", `${H}Transfer-Encoding: gzip\r\n\r\n`],
  ["another encoding besides", `${H}Transfer-Encoding: gzip, chunked\r\n\r\n`],
  ["chunks twice", `${H}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`],
  ["chunks that are none", `${H}Transfer-Encoding: xchunked\r\n\r\n`],
  ["an interim answer with a length", `HTTP/1.1 103 Early\r\nContent-Length: 2\r\n\r\n${H}Content-Length: 0\r\n\r\n`],
  ["an interim answer in chunks", `HTTP/1.1 102 \r\nTransfer-Encoding: chunked\r\n\r\n${H}Content-Length: 0\r\n\r\n`],
  ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"],
  ["a wrong length on an answer without a body", "HTTP/1.1 204 No Content\r\nContent-Length: x\r\n\r\n"],
  ["a size that is no number", `${CHUNKED}xyz\r\n`],
  ["an empty size", `${CHUNKED}\r\n`],
  ["a size with a sign", `${CHUNKED}+5\r\nhello\r\n`],
  ["a size with 0x", `${CHUNKED}0x5\r\nhello\r\n`],
  ["a size after a blank", `${CHUNKED} 5\r\nhello\r\n`],
  ["a size before a blank", `${CHUNKED}5 \r\nhello\r\n`],
  ["a size that ends in a bare line feed", `${CHUNKED}5\nhello\r\n`],
  ["a size beyond counting", `${CHUNKED}FFFFFFFFFFFFFFFF\r\n`],
  ["a chunk that is longer than its size", `${CHUNKED}4\r\nhello\r\n0\r\n\r\n`],
  ["a chunk that is shorter than its size", `${CHUNKED}6\r\nhello\r\n0\r\n\r\n`],
  ["a chunk that ends in a bare line feed", `${CHUNKED}5\r\nhello\n0\r\n\r\n`],
  ["an extension with a control character", `${CHUNKED}5;a\x01\r\nhello\r\n`],
  ["a trailer that is no field", `${CHUNKED}0\r\nno trailer\r\n\r\n`],
  ["a trailer that ends in a bare line feed", `${CHUNKED}0\r\nA: b\n\r\n`],
];

test.each(REFUSED)("rejects %s, whole and byte by byte", (_, text) => {
  expect(() => parse(whole(text))).toThrow("is not HTTP/1.1");
  expect(() => parse(bytewise(text))).toThrow("is not HTTP/1.1");
});

test("accepts a head at the size limit, and rejects a larger one before it ends", () => {
  const padded = (bytes: number): string => `${H}A: ${"x".repeat(bytes - H.length - 7)}\r\n\r\n`;
  expect(parse(whole(padded(64 * 1024))).head.status).toBe(200);
  expect(parse(bytewise(padded(64 * 1024))).head.status).toBe(200);
  expect(() => parse(whole(padded(64 * 1024 + 1)))).toThrow("over the limit of 65536 bytes");
  expect(() => parse(bytewise(`${H}${"x".repeat(64 * 1024)}`))).toThrow("over the limit of 65536 bytes");
});

test("limits interim answers by number, and by bytes together with the answer", () => {
  const interim = "HTTP/1.1 102 Processing\r\n\r\n";
  const last = `${H}Content-Length: 0\r\n\r\n`;
  expect(parse(whole(interim.repeat(16) + last)).head.status).toBe(200);
  expect(() => parse(whole(interim.repeat(17) + last))).toThrow("too many interim answers");
  const long = `HTTP/1.1 103 Early\r\nLink: ${"x".repeat(40_000)}\r\n\r\n`;
  expect(parse(whole(long + last)).head.status).toBe(200);
  expect(() => parse(whole(long + long + last))).toThrow("over the limit of 65536 bytes");
});

test("passes on chunks of one byte together if they arrive together", () => {
  const body = Array.from({ length: 20_000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join("");
  const chunks = Array.from(body, (one, at) => `${at % 3 ? "1" : "001;x"}\r\n${one}\r\n`);
  const text = `${CHUNKED}${chunks.join("")}0\r\n\r\n`;
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; at += 10_007) pieces.push(Buffer.from(text.slice(at, at + 10_007), "latin1"));
  const heard: string[] = [];
  const onData = (data: Buffer): void => void heard.push(data.toString("latin1"));
  const parser = new AnswerParser({ onInterim: () => {}, onHead: () => {}, onData });
  for (const piece of pieces) parser.feed(piece);
  expect([heard.join(""), parser.isOver]).toEqual([body, true]);
  expect(heard.length).toBeLessThanOrEqual(pieces.length);
});

test("limits chunk extensions, per line and in total", () => {
  const chunk = (bytes: number): string => `1;${"x".repeat(bytes)}\r\n!\r\n`;
  const end = "0\r\n\r\n";
  expect(parse(whole(CHUNKED + chunk(1000) + end)).body).toBe("!");
  expect(() => parse(whole(CHUNKED + chunk(1100) + end))).toThrow("too long");
  expect(() => parse(bytewise(`${CHUNKED}1;${"x".repeat(1100)}`))).toThrow("too long");
  expect(parse(whole(CHUNKED + chunk(1000).repeat(16) + end)).body).toBe("!".repeat(16));
  expect(() => parse(whole(CHUNKED + chunk(1000).repeat(17) + end))).toThrow("too many extensions");
});

test("limits trailers", () => {
  const ending = (bytes: number): string => `${CHUNKED}0\r\n${`A: ${"x".repeat(95)}\r\n`.repeat(bytes / 100)}\r\n`;
  expect(parse(whole(ending(8100))).isOver).toBe(true);
  expect(() => parse(whole(ending(8200)))).toThrow("too long");
  expect(() => parse(bytewise(`${CHUNKED}0\r\nA: ${"x".repeat(9000)}`))).toThrow("too long");
});

test("consumes no bytes after an answer", () => {
  const answers = [
    `${H}Content-Length: 2\r\n\r\nok`,
    `${CHUNKED}2\r\nok\r\n0\r\n\r\n`,
    "HTTP/1.1 204 No Content\r\n\r\n",
  ];
  for (const text of answers)
    expect(parse(whole(`${text}HTTP/1.1 200 OK\r\n`))).toMatchObject({ used: text.length, isOver: true });
});

test("completes an answer without a length when its connection ends, but not one with a length", () => {
  const ends = (text: string): boolean => {
    const parser = new AnswerParser({ onInterim: () => {}, onHead: () => {}, onData: () => {} });
    parser.feed(Buffer.from(text));
    return parser.endsHere();
  };
  expect(ends(`${H}\r\nhello`)).toBe(true);
  for (const text of ["", H, `${H}Content-Length: 6\r\n\r\nhello`, `${CHUNKED}5\r\nhello\r\n`, `${CHUNKED}0\r\n`])
    expect(ends(text)).toBe(false);
});

test("parses the next answer after a reset", () => {
  const bodies: string[] = [];
  const onData = (data: Buffer): void => void bodies.push(String(data));
  const parser = new AnswerParser({ onInterim: () => {}, onHead: () => {}, onData });
  for (const [, text] of ACCEPTED) {
    parser.reset();
    parser.feed(Buffer.from(text, "latin1"));
    expect(parser.isOver).toBe(true);
  }
  expect(bodies.join("|")).toBe("hello|hello world|hello|0123456789|!|no|ok");
});

test("reports whether and for how long the connection is kept", () => {
  const of = (fields: string, first = H): object => parse(whole(`${first}Content-Length: 0\r\n${fields}\r\n`)).head;
  expect(of("")).toMatchObject({ keepsAlive: true, keepAliveMs: undefined });
  expect(of("Keep-Alive: timeout=5, max=100\r\n")).toMatchObject({ keepsAlive: true, keepAliveMs: 5000 });
  expect(of("Connection: keep-alive, Close\r\n")).toMatchObject({ keepsAlive: false });
  expect(of("Connection: keep-alive\r\n", "HTTP/1.0 200 OK\r\n")).toMatchObject({ keepsAlive: false });
  expect(parse(whole(`${H}\r\n`)).head).toMatchObject({ keepsAlive: false });
});

test("joins fields of one name in upper and lower case", () => {
  const { head } = parse(whole(`${H}X-One: a\r\nx-one:b\r\nContent-Length: 0\r\n\r\n`));
  expect(head.header("x-one")).toBe("a, b");
  expect(head.header("x-two")).toBeUndefined();
});
