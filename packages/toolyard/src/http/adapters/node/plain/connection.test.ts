import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createRandom } from "../../../../../../../test/support/random.ts";
import { createTestListener } from "../../../../../../../test/support/test-listener.ts";
import { SILENT_LOGGER } from "../../../../core/ports/ports.ts";
import type { HttpExchange } from "../../../exchange.ts";
import type { Listener } from "../../../listening/listener.ts";
import { resolveHttp, type HttpConfig } from "../../../options.ts";
import { sendJson, sendText } from "../../../answer/send.ts";
import { PacedSocket } from "../paced-socket.ts";
import { PlainHeadReader } from "./request-head.ts";

const open: Listener[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

type Serve = (exchange: HttpExchange) => void | Promise<void>;

const echo: Serve = async (exchange) => {
  const { method, path, search } = exchange;
  const body = (await exchange.readBody()).toString("latin1");
  const headers = Object.fromEntries(Object.entries(exchange.headers).toSorted());
  sendJson(exchange.answer, 200, JSON.stringify({ method, path, search, headers, body }));
};

/** Handlers for every form of answer. */
const SERVED: Readonly<Record<string, Serve>> = {
  "/echo": echo,
  "/empty": ({ answer }) => answer.send(204, []),
  "/plain": ({ answer }) => answer.send(200, ["content-type", "text/plain"], "häß \u{1f600}"),
  "/named": ({ answer }) =>
    answer.setHeader("X-One", "a").setHeader("x-one", "b").setHeader("x-two", "é").send(201, ["X-Two", "ü"], "n"),
  "/bytes": ({ answer }) => answer.send(200, [], Buffer.from([0, 1, 2, 255])),
  "/pieces": ({ answer }) => answer.sendPieces(200, [], ["ü", Buffer.from("mid"), "", Buffer.alloc(0), "end"]),
  "/stream": (exchange) => {
    const stream = exchange.openStream({ "x-of": "stream" });
    stream.send("one");
    stream.send("zwölf");
    stream.end();
  },
  "/silent-stream": (exchange) => exchange.openStream().end(),
  "/written": ({ answer }) => {
    answer.begin(200, []);
    answer.flush();
    answer.write(Buffer.from("bytes"));
    answer.write("");
    answer.write("täxt");
    answer.end(Buffer.from("last"));
  },
  "/twice": ({ answer }) => {
    answer.send(200, [], "once");
    answer.send(500, [], "twice");
    answer.end("twice");
  },
  "/last": ({ answer }) => answer.send(200, ["connection", "close"], "bye"),
  "/fault": () => {
    throw new Error("broken");
  },
};

async function start(config: HttpConfig = {}, more: Readonly<Record<string, Serve>> = {}): Promise<number> {
  const listener = createTestListener(resolveHttp({ port: 0, shutdown_grace: 500, ...config }), SILENT_LOGGER);
  open.push(listener);
  for (const [path, serve] of Object.entries({ ...SERVED, ...more }))
    listener.route({ methods: ["GET", "POST", "DELETE"], path }, serve);
  return (await listener.listen()).port;
}

interface Answer {
  readonly status: number;
  /** All headers except the date. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Connection of a caller that reads answers one after another. */
class Caller {
  readonly socket: Socket;
  #text = "";

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", noDelay: true });
    sockets.push(this.socket);
    this.socket.on("data", (chunk: Buffer) => (this.#text += chunk.toString("latin1"))).on("error", () => {});
  }

  /** Returns a connection that Node's own server handles, because its first request is not plain. */
  static async ofNode(port: number): Promise<Caller> {
    const caller = new Caller(port);
    caller.socket.write("OPTIONS /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await caller.answer();
    return caller;
  }

  /** Returns the next answer, or `undefined` if the connection ends without one. */
  async answer(): Promise<Answer | undefined> {
    for (;;) {
      const taken = takeAnswer(this.#text, this.socket.readableEnded || this.socket.closed);
      if (taken) {
        this.#text = taken.rest;
        return taken.answer;
      }
      if (this.socket.readableEnded || this.socket.closed) return undefined;
      const over = new AbortController();
      const news = ["data", "end", "close"].map((event) => once(this.socket, event, { signal: over.signal }));
      await Promise.race(news);
      over.abort();
      await Promise.allSettled(news);
    }
  }

  async ended(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, "close");
  }
}

function takeAnswer(text: string, isOver: boolean): { readonly answer: Answer; readonly rest: string } | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const fields = lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.replace(/^[^:]*: /, "")]);
  const headers = Object.fromEntries(fields.filter(([name]) => name !== "date")) as Record<string, string>;
  const status = Number(first.slice(9, 12));
  const rest = text.slice(end + 4);
  if (status < 200) return takeAnswer(rest, isOver);
  const answer = (body: string, left: string) => ({ answer: { status, headers, body }, rest: left });
  if (status === 204 || status === 304) return answer("", rest);
  if (headers["transfer-encoding"] === "chunked") {
    const body = unchunked(rest);
    return body && answer(body.text, body.rest);
  }
  const length = headers["content-length"];
  if (length === undefined) return isOver ? answer(rest, "") : undefined;
  return rest.length < Number(length) ? undefined : answer(rest.slice(0, Number(length)), rest.slice(Number(length)));
}

/** Joins the chunks of a body, because only the whole body is compared. */
function unchunked(text: string): { readonly text: string; readonly rest: string } | undefined {
  let body = "";
  for (let at = 0; ;) {
    const line = text.indexOf("\r\n", at);
    const size = Number.parseInt(text.slice(at, line), 16);
    const next = line + 2 + size + 2;
    if (line === -1 || Number.isNaN(size) || text.length < next) return undefined;
    if (size === 0) return { text: body, rest: text.slice(next) };
    body += text.slice(line + 2, line + 2 + size);
    at = next;
  }
}

const HOST = "Host: localhost\r\n";
const post = (path: string, body: string, headers = ""): string =>
  `POST ${path} HTTP/1.1\r\n${HOST}${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
const get = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`;

/** Returns the answers of both servers to the same bytes. */
async function bothAnswers(port: number, raw: string): Promise<(Answer | undefined)[]> {
  const callers = [new Caller(port), await Caller.ofNode(port)];
  for (const { socket } of callers) socket.write(raw, "latin1");
  return Promise.all(callers.map((caller) => caller.answer()));
}

describe("sends the same answer as Node's own server", () => {
  test.each(Object.keys(SERVED).filter((path) => path !== "/fault"))("%s", async (path) => {
    const port = await start();
    for (const raw of [post(path, "{}"), get(path)]) {
      const [plain, node] = await bothAnswers(port, raw);
      expect(plain).toEqual(node);
      expect(plain?.status).toBeGreaterThanOrEqual(200);
    }
  });

  test("for an exception in a handler", async () => {
    const [plain, node] = await bothAnswers(await start(), get("/fault"));
    const alike = (answer: Answer | undefined) => ({ ...answer, body: answer?.body.replace(/id \w+/, "id") });
    expect(alike(plain)).toEqual(alike(node));
    expect(plain?.status).toBe(500);
  });

  test.each<[string, Serve]>([
    ["passed to `send`", ({ answer }) => answer.send(200, ["x-forged", "a\r\nset-cookie: b"], "no")],
    ["set before", ({ answer }) => answer.setHeader("x-forged", "中").send(200, [], "no")],
    ["of an answer in pieces", ({ answer }) => answer.sendPieces(200, ["x-forged", "\0"], ["no", Buffer.from("no")])],
    ["of an event stream", (exchange) => exchange.openStream({ "x-forged": "\x1b[2J" }).send("no")],
    ["whose name is none", ({ answer }) => answer.send(200, ["x forged", "a"], "no")],
    [
      "of an answer that is begun",
      ({ answer }) => {
        answer.begin(200, ["x-forged", "a\nb"]);
        answer.flush();
        answer.write("no");
        answer.end("no");
      },
    ],
  ])("answers a header that HTTP cannot carry, %s, with a fixed 500, and keeps the connection", async (_, serve) => {
    const port = await start({}, { "/forged": serve });
    for (const caller of [new Caller(port), await Caller.ofNode(port)]) {
      caller.socket.write(get("/forged") + get("/plain"));
      const answer = await caller.answer();
      expect(answer).toMatchObject({ status: 500, body: expect.stringContaining('"code":-32603') });
      expect(answer?.headers).not.toHaveProperty("x-forged");
      expect((await caller.answer())?.status).toBe(200);
    }
  });

  test.each([
    ["a token, spaces around it", get("/echo", "Authorization: \t Bearer x \t\r\n")],
    ["values beyond ASCII", get("/echo", "X-Name: \xe9\xff\r\n")],
    ["an empty value", get("/echo", "X-Name:\r\n")],
    ["a path that nobody has", get("/nowhere")],
    ["a query", get("/echo?a=b&c=%20")],
    ["DELETE", `DELETE /echo HTTP/1.1\r\n${HOST}\r\n`],
    ["a body that is compressed", post("/echo", "x", "Content-Encoding: gzip\r\n")],
    ["a foreign origin", post("/echo", "x", "Origin: https://evil.example\r\n")],
    ["names that objects have", get("/echo", "constructor: a\r\ntoString: b\r\n")],
  ])("for a request to %s", async (_, raw) => {
    const [plain, node] = await bothAnswers(await start(), raw);
    expect(plain).toEqual(node);
    expect(plain).toBeDefined();
  });
});

/** Requests that only Node's server handles. They must reach it unchanged. */
const NOT_PLAIN: readonly (readonly [what: string, raw: string])[] = [
  ["a name that not every object can have", get("/echo", "__proto__: a\r\n")],
  ["OPTIONS", `OPTIONS /echo HTTP/1.1\r\n${HOST}\r\n`],
  ["HTTP/1.0", `GET /echo HTTP/1.0\r\n${HOST}\r\n`],
  ["a whole address as target", `GET http://localhost/echo HTTP/1.1\r\n${HOST}\r\n`],
  ["no Host", "GET /echo HTTP/1.1\r\n\r\n"],
  ["two Hosts", get("/echo", "Host: evil.example\r\n")],
  ["a name twice", get("/echo", "X-A: 1\r\nX-A: 2\r\n")],
  ["two lengths", post("/echo", "x", "Content-Length: 1\r\n")],
  ["two lengths that differ", post("/echo", "x", "Content-Length: 5\r\n")],
  ["a length with a sign", `POST /echo HTTP/1.1\r\n${HOST}Content-Length: +1\r\n\r\nx`],
  ["a length in hex", `POST /echo HTTP/1.1\r\n${HOST}Content-Length: 0x1\r\n\r\nx`],
  ["chunks", `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`],
  ["chunks and a length", post("/echo", "0\r\n\r\n", "Transfer-Encoding: chunked\r\n")],
  ["the end of the connection", post("/echo", "x", "Connection: close\r\n")],
  ["another protocol", get("/echo", "Connection: upgrade\r\nUpgrade: websocket\r\n")],
  ["a continue", post("/echo", "x", "Expect: 100-continue\r\n")],
  ["a folded line", get("/echo", "X-A: 1\r\n 2\r\n")],
  ["a space before a colon", get("/echo", "X-A : 1\r\n")],
  ["a line feed alone", `GET /echo HTTP/1.1\n${HOST}\r\n`],
  ["a carriage return in a value", get("/echo", "X-A: 1\r2\r\n")],
  ["NUL in a value", get("/echo", "X-A: 1\x002\r\n")],
  ["a space in the target", `GET /echo x HTTP/1.1\r\n${HOST}\r\n`],
  ["letters beyond ASCII in the target", `GET /ech\xf6 HTTP/1.1\r\n${HOST}\r\n`],
  ["an empty line before it", `\r\n${get("/echo")}`],
  ["no HTTP", "hello\r\n\r\n"],
  ["POST without a length", `POST /echo HTTP/1.1\r\n${HOST}\r\n`],
  ["the end of the connection, as some proxies say it", post("/echo", "x", "Proxy-Connection: close\r\n")],
  ["a name that Node has as a list", get("/echo", "Set-Cookie: a\r\n")],
  ["more headers than Node keeps", get("/echo", Array.from({ length: 2100 }, (_, at) => `x${at}:\r\n`).join(""))],
];

test.each(NOT_PLAIN)("hands %s to Node's own server", async (_, raw) => {
  const [first, node] = await bothAnswers(await start(), raw);
  expect(first).toEqual(node);
  expect(first).toBeDefined();
});

test.each(["x", "\x01"])("reads many spaces before %j in a header in linear time", (end) => {
  const raw = `GET / HTTP/1.1\r\n${HOST}X-A: x${" ".repeat(2_000_000)}${end}\r\n\r\nX-A:${" ".repeat(2_000_000)}`;
  // A reader with backtracking at each space would not finish in time.
  expect(new PlainHeadReader(raw.length).read(Buffer.from(raw, "latin1"))?.method).toBe(
    end === "x" ? "GET" : undefined,
  );
});

test("both servers read 300 random requests from seed 20261126 in the same way", async () => {
  const port = await start({ request_timeout: 400 });
  const { below, pick } = createRandom(20_261_126);
  const request = (): string => {
    const given = pick(["", "x", "{}", "\r\n\r\n", "GET /echo HTTP/1.1\r\n"]);
    const length = below(10) < 7 ? [`Content-Length: ${given.length}`] : [];
    // Bytes after the declared length are another request, which Node may refuse before it answers the first one.
    const others = length.length > 0 ? [given.length, 0, 3, "1 ", " 2"] : [given.length, `${given.length} `];
    const fields = Array.from({ length: below(2) * below(4) }, () =>
      pick([
        `Content-Length: ${pick([...others, "1,1", "", "-1", "+1"])}`,
        `Transfer-Encoding: ${pick(["chunked", "identity", "gzip, chunked", "Chunked"])}`,
        `Connection: ${pick(["close", "keep-alive", "Keep-Alive", "x", "keep-alive, x", "upgrade"])}`,
        [
          pick(["X-A", "x-a", "X A", "X-\xe9", "", "Cookie"]),
          pick([":", ": ", " : ", ":\t", ";"]),
          pick(["1", "", "\x7f", "\x01", "\xe9", "a:b"]),
        ].join(""),
        `Host: ${pick(["localhost", "evil.example", ""])}`,
        "Origin: http://localhost",
        " folded",
      ]),
    );
    const isWild = below(2) === 0;
    const method = pick(isWild ? ["PUT", "post", "POS", "DELETE"] : ["POST", "POST", "GET"]);
    const target = pick(isWild ? ["/echo#a", "*", "//echo", "/echo\x7f", "/echo?x=1"] : ["/echo"]);
    const version = pick(isWild ? ["HTTP/1.0", "HTTP/1.2", "http/1.1", "HTTP/1.1"] : ["HTTP/1.1"]);
    const line = [method, target, version].join(pick([" ", " ", " ", isWild ? "  " : " "]));
    const body = [...length, ...fields].some((one) => one.startsWith("Content-Length")) ? given : "";
    const end = below(20) > 0 ? "\r\n" : pick(["\n", "\r"]);
    return [line, "Host: localhost", ...length, ...fields, "", body].join(end);
  };
  const told: Record<number, number> = {};
  for (let round = 0; round < 30; round += 1) {
    const all = Array.from({ length: 10 }, request);
    const answers = await Promise.all(all.map((raw) => bothAnswers(port, raw)));
    for (const [at, [plain, node]] of answers.entries()) {
      expect(plain, JSON.stringify(all[at])).toEqual(node);
      told[plain?.status ?? 0] = (told[plain?.status ?? 0] ?? 0) + 1;
    }
  }
  // The random requests contained both served and refused ones.
  expect(told[200]).toBeGreaterThan(20);
  expect(told[400]).toBeGreaterThan(20);
});

describe("requests on one connection", () => {
  const bodyOf = (answer: Answer | undefined): string => (JSON.parse(answer?.body ?? "{}") as { body: string }).body;

  test("are answered in order if each is sent after the previous answer", async () => {
    const caller = new Caller(await start());
    for (const body of ["a", "b", "ccc", "ccc", ""]) {
      caller.socket.write(post("/echo", body));
      expect(bodyOf(await caller.answer())).toBe(body);
    }
  });

  test("are answered in order if all are sent together, for every type of answer", async () => {
    const caller = new Caller(await start());
    const chunked = `POST /echo HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n`;
    caller.socket.write([post("/echo", "a"), post("/echo", "b"), chunked, post("/echo", "d")].join(""));
    const told: string[] = [];
    for (let count = 0; count < 4; count += 1) told.push(bodyOf(await caller.answer()));
    expect(told).toEqual(["a", "b", "c", "d"]);
  });

  test("are read correctly if they are split at any position", async () => {
    const port = await start();
    const raw = post("/echo", "a") + post("/echo", "b");
    const told = await Promise.all(
      Array.from({ length: raw.length - 1 }, async (_, at) => {
        const caller = new Caller(port);
        caller.socket.write(raw.slice(0, at + 1));
        await new Promise((resolve) => setImmediate(resolve));
        caller.socket.write(raw.slice(at + 1));
        return [bodyOf(await caller.answer()), bodyOf(await caller.answer())];
      }),
    );
    expect(told.filter(([one, two]) => one !== "a" || two !== "b")).toEqual([]);
  });

  test("wait for the previous answer", async () => {
    const turns: string[] = [];
    let release = (): void => {};
    const port = await start(
      {},
      {
        "/slow": async ({ answer }) => {
          turns.push("slow");
          await new Promise<void>((resolve) => (release = resolve));
          sendText(answer, 200, "slow");
        },
        "/quick": ({ answer }) => {
          turns.push("quick");
          sendText(answer, 200, "quick");
        },
      },
    );
    const caller = new Caller(port);
    caller.socket.write(post("/slow", "") + post("/quick", ""));
    const other = new Caller(port);
    other.socket.write(post("/quick", ""));
    expect((await other.answer())?.body).toBe("quick");
    expect(turns).toEqual(["slow", "quick"]);
    release();
    expect([(await caller.answer())?.body, (await caller.answer())?.body]).toEqual(["slow", "quick"]);
  });

  test("are not affected by an exception after the previous answer", async () => {
    let fail = (): void => {};
    let release = (): void => {};
    const port = await start(
      {},
      {
        "/late": async ({ answer }) => {
          sendText(answer, 200, "late");
          await new Promise<void>((resolve) => (fail = resolve));
          throw new Error("broken");
        },
        "/slow": async ({ answer }) => {
          fail();
          await new Promise<void>((resolve) => (release = resolve));
          sendText(answer, 200, "slow");
        },
        "/release": ({ answer }) => {
          release();
          sendText(answer, 200, "released");
        },
      },
    );
    for (const caller of [new Caller(port), await Caller.ofNode(port)]) {
      caller.socket.write(post("/late", ""));
      expect((await caller.answer())?.body).toBe("late");
      caller.socket.write(post("/slow", ""));
      const other = new Caller(port);
      other.socket.write(post("/echo", ""));
      await other.answer();
      other.socket.write(post("/release", ""));
      await other.answer();
      expect((await caller.answer())?.body).toBe("slow");
    }
  });

  test("follow an answer without a body, even if its handler writes one", async () => {
    const bodiless: Serve = ({ answer }) => {
      answer.begin(204, []);
      answer.write("a body");
      answer.write(Buffer.from("more"));
      answer.end("last");
    };
    const port = await start({}, { "/bodiless": bodiless });
    for (const caller of [new Caller(port), await Caller.ofNode(port)]) {
      caller.socket.write(post("/bodiless", "") + post("/echo", "next"));
      expect((await caller.answer())?.status).toBe(204);
      const next = await caller.answer();
      expect([next?.status, bodyOf(next)]).toEqual([200, "next"]);
    }
  });

  test("are refused with 413 if the body is over the limit of the listener or of its reader", async () => {
    const port = await start(
      { max_body_bytes: 100 },
      {
        "/small": async (exchange) => sendText(exchange.answer, 200, (await exchange.readBody(10)).toString()),
      },
    );
    for (const raw of [post("/echo", "x".repeat(101)), post("/small", "x".repeat(11))]) {
      const caller = new Caller(port);
      caller.socket.write(raw);
      expect((await caller.answer())?.status).toBe(413);
    }
    const caller = new Caller(port);
    caller.socket.write(post("/small", "x".repeat(10)));
    expect((await caller.answer())?.body).toBe("x".repeat(10));
  });
});

describe("body that arrives after its head", () => {
  const bodyOf = (answer: Answer | undefined): string => (JSON.parse(answer?.body ?? "{}") as { body: string }).body;
  /** Writes the pieces, each in a separate turn of the event loop. */
  const writeApart = async ({ socket }: Caller, ...pieces: readonly string[]): Promise<void> => {
    for (const piece of pieces) {
      socket.write(piece, "latin1");
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const headOf = (path: string, bytes: number): string =>
    `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${bytes}\r\n\r\n`;

  test.each([
    ["in one piece", ["hello"]],
    ["in single bytes", ["h", "e", "l", "l", "o"]],
    ["with a piece that came with the head", ["lo"]],
    ["with the head of the next request", [`hello${headOf("/echo", 3)}`, "abc"]],
  ])("is served without Node's server, %s", async (what, pieces) => {
    const handedOver = vi.spyOn(PacedSocket.prototype, "start");
    const caller = new Caller(await start());
    const first = what.includes("with the head") && what.includes("came") ? "hel" : "";
    await writeApart(caller, headOf("/echo", 5) + first, ...pieces);
    expect(bodyOf(await caller.answer())).toBe("hello");
    if (pieces.at(-1) === "abc") expect(bodyOf(await caller.answer())).toBe("abc");
    for (let count = 0; count < 3; count += 1) {
      await writeApart(caller, headOf("/echo", 2), "{}");
      expect(bodyOf(await caller.answer())).toBe("{}");
    }
    expect(handedOver).not.toHaveBeenCalled();
    handedOver.mockRestore();
  });

  test("is read completely if it is large, while another connection is served", async () => {
    const port = await start({ max_body_bytes: 8_000_000 });
    const text = "x".repeat(7_000_000);
    const [caller, other] = [new Caller(port), new Caller(port)];
    await writeApart(caller, headOf("/echo", text.length), text.slice(0, 5_000_000));
    other.socket.write(post("/echo", "other"));
    expect(bodyOf(await other.answer())).toBe("other");
    caller.socket.write(text.slice(5_000_000));
    expect(bodyOf(await caller.answer()).length).toBe(text.length);
  });

  test("is dropped if its handler answers before its end, and the next request is served", async () => {
    const caller = new Caller(await start());
    await writeApart(caller, headOf("/plain", 100_000));
    expect((await caller.answer())?.status).toBe(200);
    await writeApart(caller, "x".repeat(50_000), `${"x".repeat(50_000)}${post("/echo", "next")}`);
    expect(bodyOf(await caller.answer())).toBe("next");
  });

  test.each(["/echo", "/wait"])(
    "is answered 408 if it is not complete within the request timeout, for a handler at %s",
    async (path) => {
      const wait: Serve = () => new Promise(() => {});
      const caller = new Caller(await start({ request_timeout: 50 }, { "/wait": wait }));
      await writeApart(caller, headOf(path, 5), "he");
      expect((await caller.answer())?.status).toBe(408);
      await caller.ended();
    },
  );

  test("ends the connection without a 408 if it is not complete after its request was answered", async () => {
    const caller = new Caller(await start({ request_timeout: 50 }));
    await writeApart(caller, headOf("/plain", 5), "he");
    expect((await caller.answer())?.status).toBe(200);
    expect(await caller.answer()).toBeUndefined();
  });

  test("cancels its request when the connection ends, and its reader gets status 400", async () => {
    const failures: unknown[] = [];
    let failed = (): void => {};
    const hasFailed = new Promise<void>((resolve) => (failed = resolve));
    const serve: Serve = async (exchange) => {
      await Promise.resolve(exchange.readBody()).catch((error: unknown) => failures.push(error));
      failed();
    };
    const caller = new Caller(await start({}, { "/read": serve }));
    await writeApart(caller, headOf("/read", 5), "he");
    caller.socket.destroy();
    await hasFailed;
    expect(failures).toMatchObject([{ status: 400 }]);
  });
});

describe("end of a connection", () => {
  test("cancels the request of a caller that disconnects before the answer", async () => {
    const gone: unknown[] = [];
    let begun = (): void => {};
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const isGone = new Promise<void>((resolve) => {
      const wait: Serve = ({ answer }) => {
        answer.signal.addEventListener("abort", () => resolve(void gone.push(answer.signal.reason)));
        begun();
      };
      void start({}, { "/wait": wait }).then((port) => {
        const caller = new Caller(port);
        caller.socket.write(post("/wait", ""));
        return isBegun.then(() => caller.socket.destroy());
      });
    });
    await isGone;
    expect(gone).toHaveLength(1);
  });

  test.each([1, 100])(
    "cancels the running request of a caller that disconnects with %i requests waiting",
    async (count) => {
      let begun = (): void => {};
      const isBegun = new Promise<void>((resolve) => (begun = resolve));
      let gone = (): void => {};
      const isGone = new Promise<void>((resolve) => (gone = resolve));
      const told: string[] = [];
      const wait: Serve = ({ answer }) => {
        answer.signal.addEventListener("abort", gone);
        begun();
      };
      const caller = new Caller(await start({}, { "/wait": wait, "/next": () => void told.push("next") }));
      caller.socket.write(post("/wait", "") + post("/next", ""));
      await isBegun;
      for (let sent = 1; sent < count; sent += 1) caller.socket.write(post("/next", ""));
      caller.socket.destroy();
      await isGone;
      expect(told).toEqual([]);
    },
  );

  test("cancels the request of a caller that ends its side, and closes the connection", async () => {
    let signal: { readonly aborted: boolean } | undefined;
    const port = await start({}, { "/wait": ({ answer }) => void (signal = answer.signal) });
    const caller = new Caller(port);
    caller.socket.end(post("/wait", ""));
    await caller.ended();
    expect(signal?.aborted).toBe(true);
  });

  test("closes an idle connection silently, and answers 408 on one that has sent no request", async () => {
    const port = await start({ idle_timeout: 50, request_timeout: 50 });
    const used = new Caller(port);
    used.socket.write(post("/echo", ""));
    expect((await used.answer())?.status).toBe(200);
    expect(await used.answer()).toBeUndefined();
    const silent = new Caller(port);
    expect((await silent.answer())?.status).toBe(408);
  });

  test("closes the connection of an answer that is not read in time", async () => {
    let over = (): void => {};
    const isOver = new Promise<void>((resolve) => (over = resolve));
    const serve: Serve = ({ answer }) => {
      answer.onClosed(over);
      answer.send(200, [], "x".repeat(50_000_000));
    };
    const caller = new Caller(await start({ stream_stall: 50 }, { "/large": serve }));
    caller.socket.pause();
    caller.socket.write(post("/large", ""));
    await isOver;
    caller.socket.resume();
    expect(await caller.answer()).toBeUndefined();
  });

  test("an answer in many pieces arrives complete, and causes no warning of Node", async () => {
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", warned);
    const pieces = Array.from({ length: 40 }, () => "x".repeat(200_000));
    const caller = new Caller(await start({}, { "/large": ({ answer }) => answer.sendPieces(200, [], pieces) }));
    caller.socket.write(post("/large", ""));
    expect((await caller.answer())?.body.length).toBe(8_000_000);
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });

  test("an answer that is read slowly arrives complete", async () => {
    const text = "x".repeat(5_000_000);
    const caller = new Caller(await start({}, { "/large": ({ answer }) => answer.send(200, [], text) }));
    caller.socket.pause();
    caller.socket.write(post("/large", "") + post("/echo", "next"));
    await new Promise((resolve) => setImmediate(resolve));
    caller.socket.resume();
    expect((await caller.answer())?.body.length).toBe(text.length);
    expect((await caller.answer())?.status).toBe(200);
  });

  test("close waits for the running answer, announces the end of the connection, and closes idle ones", async () => {
    let release = (): void => {};
    const port = await start(
      {},
      {
        "/slow": async ({ answer }) => {
          await new Promise<void>((resolve) => (release = resolve));
          sendText(answer, 200, "done");
        },
      },
    );
    const unused = new Caller(port);
    unused.socket.write(post("/echo", ""));
    await unused.answer();
    const busy = new Caller(port);
    busy.socket.write(post("/slow", ""));
    const other = new Caller(port);
    other.socket.write(post("/echo", ""));
    await other.answer();
    const closing = open[0]!.close();
    await unused.ended();
    release();
    const answer = await busy.answer();
    expect(answer).toMatchObject({ body: "done", headers: { connection: "close" } });
    await closing;
    await busy.ended();
  });
});
