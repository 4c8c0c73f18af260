// Real connections between the transport of one hub and the host of another.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PrincipalReader } from "../../adapters/workers/principal-text.ts";
import { HttpAnswer } from "../../answer/answer.ts";
import { HttpExchange, NOBODY, type ExchangePlace } from "../../exchange.ts";
import type { AnswerWire, RawHeaders, WireEvents } from "../../wire.ts";
import { RELAY_HEADER, RELAYED } from "../relayed-headers.ts";
import { FrameHost, type HostedRequest } from "./frame-host.ts";
import { FrameTransport } from "./frame-transport.ts";
import { Handshakes } from "./handshake.ts";
import { HeadReader, writeHead } from "./request-heads.ts";
import { upgradeRequest } from "./upgrade.ts";

const SECRET = Buffer.from("secret-of-the-store");
const PLACE = {
  limits: { maxBodyBytes: 1_000_000 },
  closing: new AbortController().signal,
  bodies: undefined,
  authenticator: {},
} as unknown as ExchangePlace;

/** Caller of a relayed request. It reads its answer immediately, unless `isSlow`. */
class Caller implements AnswerWire {
  events: WireEvents | undefined;
  isGone = false;
  isSlow = false;
  isCut = false;
  waitingBytes = 0;
  sentBytes = 0;
  status = 0;
  headers: RawHeaders = [];
  text = "";
  isEnded = false;
  /** Resolves when the answer has ended. */
  readonly ended: Promise<void>;
  #settle = (): void => {};
  readonly #unread: (() => void)[] = [];

  constructor() {
    this.ended = new Promise((resolve) => (this.#settle = resolve));
  }

  setHeader(): void {}
  flush(): void {}
  begin(status: number, headers: RawHeaders): void {
    [this.status, this.headers] = [status, headers];
  }
  write(piece: string | Uint8Array, onTaken: () => void = () => {}): boolean {
    this.text += Buffer.from(piece as Uint8Array).toString();
    if (this.isSlow) this.#unread.push(onTaken);
    else process.nextTick(onTaken);
    return true;
  }
  end(last: string | Uint8Array = ""): void {
    this.text += Buffer.from(last as Uint8Array).toString();
    this.isEnded = true;
    this.#settle();
    this.events?.closed();
  }
  cut(): void {
    this.isCut = true;
    this.disconnect();
  }
  disconnect(): void {
    this.isGone = true;
    this.events?.closed();
  }
  readAll(): void {
    this.isSlow = false;
    for (const onTaken of this.#unread.splice(0)) onTaken();
  }
}

let server: Server;
let url: string;
let host: FrameHost;
let transport: FrameTransport;
let accepted: Socket[];
/** Answers the requests of a test. */
let handle: (request: HostedRequest, answer: HttpAnswer, body: string) => void;

const answered = (answer: HttpAnswer): HttpAnswer => answer.setHeader(RELAY_HEADER, RELAYED.answered);
const ok = (answer: HttpAnswer, text: string): void => answered(answer).send(200, ["x-a", "b"], text);

function createHost(hub = "hub-2"): FrameHost {
  return new FrameHost({
    handshakes: new Handshakes(hub, () => SECRET),
    heads: new HeadReader(new PrincipalReader()),
    logger: { error: () => {} },
    serve: (request, answer) =>
      void request.request.readBody(1e6).then((body) => handle(request, answer, body.toString())),
  });
}

async function listen(take: (socket: Socket, bytes: Buffer) => void): Promise<void> {
  server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    accepted.push(socket);
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      socket.pause();
      take(socket, bytes);
    });
    socket.resume();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeEach(async () => {
  accepted = [];
  handle = (_, answer, body) => ok(answer, `answer to ${body}`);
  host = createHost();
  transport = new FrameTransport(new Handshakes("hub-1", () => SECRET));
  await listen((socket, bytes) => void (host.take(socket, bytes) || socket.end("HTTP/1.1 405 x\r\n\r\n")));
});

afterEach(() => {
  vi.useRealTimers();
  // An answer that stays open delays the answers of later tests.
  for (const caller of callers.splice(0)) caller.disconnect();
  transport.close();
  host.close();
  server.close();
  for (const socket of accepted) socket.destroy();
});

const callers: Caller[] = [];

interface RequestInTest {
  readonly caller: Caller;
  readonly result: ReturnType<FrameTransport["forward"]>;
}

function send(body: string, caller = new Caller()): RequestInTest {
  const request = { method: "POST", headers: { accept: "*/*", authorization: "Bearer secret" } };
  const facts = { principal: NOBODY, remoteAddress: "10.0.0.9", baseUrl: url, path: "/mcp", search: "", mount: "/mcp" };
  callers.push(caller);
  const http = new HttpExchange({ request: request as never, answer: new HttpAnswer(caller) }, facts, PLACE);
  return { caller, result: transport.forward(http, { hub: "hub-2", url }, { head: writeHead(http, false), body }) };
}

/** Sends a request and returns the text of its answer. */
async function textOf(body: string): Promise<string> {
  const { caller, result } = send(body);
  expect(await result).toBe("answered");
  await caller.ended;
  return caller.text;
}

/** Leaves all requests unanswered. Resolves with the `HttpAnswer` of the first one. */
function firstRequest(): Promise<HttpAnswer> {
  return new Promise((resolve) => (handle = (_, answer) => resolve(answer)));
}

test("passes many requests on one connection, each with its own answer", async () => {
  const sent = Array.from({ length: 200 }, (_, at) => send(`request ${at}`));
  expect(await Promise.all(sent.map(({ result }) => result))).toEqual(sent.map(() => "answered"));
  for (const [at, { caller }] of sent.entries()) {
    await caller.ended;
    expect([caller.status, caller.text]).toEqual([200, `answer to request ${at}`]);
    expect(caller.headers.slice(0, 2)).toEqual(["x-a", "b"]);
  }
  expect(accepted.length).toBe(1);
});

test("passes the caller's address and principal, and none of its credentials", async () => {
  let received: HostedRequest | undefined;
  handle = (request, answer) => {
    received = request;
    ok(answer, "");
  };
  await send("x").result;
  expect(received?.from).toBe("hub-1");
  expect(received?.head).toMatchObject({ principal: NOBODY, head: { remoteAddress: "10.0.0.9", path: "/mcp" } });
  expect(received?.head.head.headers).toEqual({ accept: "*/*" });
});

test.each(["", "x", "é".repeat(10_000), "y".repeat(120_000)])("passes a body unchanged (%#)", async (body) => {
  expect(await textOf(body)).toBe(`answer to ${body}`);
});

test("passes the pieces of a stream while it is open", async () => {
  let stream: HttpAnswer | undefined;
  handle = (_, answer) => {
    stream = answered(answer);
    answer.begin(200, ["content-type", "text/event-stream"]);
    answer.write("first ");
  };
  const { caller, result } = send("x");
  expect(await result).toBe("answered");
  await vi.waitFor(() => expect(caller.text).toBe("first "));
  stream!.write("second");
  stream!.end();
  await vi.waitFor(() => expect([caller.text, caller.isEnded]).toEqual(["first second", true]));
});

test("a large answer whose caller reads slowly does not delay other answers", async () => {
  const large = "z".repeat(5_000_000);
  handle = (_, answer, body) => ok(answer, body === "large" ? large : body);
  const slow = new Caller();
  slow.isSlow = true;
  expect(await send("large", slow).result).toBe("answered");
  expect(await textOf("small")).toBe("small");
  expect(slow.text.length).toBeLessThan(400_000);
  slow.readAll();
  await vi.waitFor(() => expect(slow.isEnded).toBe(true));
  expect(slow.text).toBe(large);
});

test("reports the disconnection of a caller to the hub that answers", async () => {
  const first = firstRequest();
  const { caller, result } = send("x");
  const answer = await first;
  const isClosed = new Promise<void>((resolve) => answer.onClosed(resolve));
  caller.disconnect();
  expect(await result).toBe("answered");
  await isClosed;
});

test.each(["before the connection is opened", "while the connection is opened", "before its request"])(
  "does not send the request of a caller that disconnects %s",
  async (when) => {
    const bodies: string[] = [];
    handle = (_, answer, body) => {
      bodies.push(body);
      ok(answer, body);
    };
    if (when === "before its request") await textOf("opens the connection");
    const caller = new Caller();
    if (when !== "while the connection is opened") caller.disconnect();
    const { result } = send("left", caller);
    caller.disconnect();
    expect(await result).toBe("answered");
    expect(await textOf("next")).toBe("next");
    expect(bodies).not.toContain("left");
    expect(accepted.length).toBe(1);
  },
);

test.each([
  ["absent", 404, RELAYED.absent],
  ["unsent", 421, undefined],
  ["lost", 500, undefined],
])("returns `%s` for an answer with the status %d and the header %s", async (expected, status, treatment) => {
  handle = (_, answer) => {
    if (treatment) answer.setHeader(RELAY_HEADER, treatment);
    answer.send(status, [], "not for the caller");
  };
  const { caller, result } = send("x");
  expect(await result).toBe(expected);
  expect(caller.status).toBe(0);
});

describe("if the connection is closed", () => {
  test("a request that was sent is lost, and the next one opens a connection", async () => {
    handle = () => accepted[0]!.destroy();
    expect(await send("x").result).toBe("lost");
    handle = (_, answer) => ok(answer, "again");
    expect([await textOf("y"), accepted.length]).toEqual(["again", 2]);
  });

  test("an answer that has begun is reported as truncated", async () => {
    handle = (_, answer) => {
      answered(answer).begin(200, []);
      answer.write("start");
    };
    const { caller, result } = send("x");
    expect(await result).toBe("answered");
    await vi.waitFor(() => expect(caller.text).toBe("start"));
    accepted[0]!.destroy();
    await vi.waitFor(() => expect(caller.isCut).toBe(true));
  });

  test("the hub that answers cancels its requests", async () => {
    let isCancelled = false;
    handle = (_, answer) => {
      answer.onClosed(() => (isCancelled = true));
      transport.close();
    };
    expect(await send("x").result).toBe("lost");
    await vi.waitFor(() => expect(isCancelled).toBe(true));
  });

  test("a request that was not passed to the system yet is reported as unsent", async () => {
    await send("open").result;
    const { result } = send("x");
    transport.close();
    expect(await result).toBe("unsent");
  });
});

test("a hub that leaves answers its running requests, and refuses new ones", async () => {
  const first = firstRequest();
  const running = send("x");
  const answer = await first;
  host.leave();
  expect(await send("y").result).toSatisfy((result) => result === undefined || result === "unsent");
  ok(answer, "late");
  expect(await running.result).toBe("answered");
  await running.caller.ended;
  expect(running.caller.text).toBe("late");
  await once(accepted[0]!, "close");
});

test("a hub that leaves does not execute a request that is on its way, and reports that", async () => {
  await textOf("opens the connection");
  const bodies: string[] = [];
  handle = (_, answer, body) => {
    bodies.push(body);
    ok(answer, body);
  };
  const { result } = send("x");
  host.leave();
  expect([await result, bodies]).toEqual(["unsent", []]);
  await once(accepted[0]!, "close");
});

test("returns `gone` if no program listens at the address", async () => {
  server.close();
  await once(server, "close");
  expect(await send("x").result).toBe("gone");
});

describe("a request must be sent in another way, and the hub is not asked again soon,", () => {
  test.each([
    ["another hub", () => (host = createHost("hub-3"))],
    ["another program", () => (host.take = () => false)],
    ["a program that closes the connection", () => (host.take = (socket) => !!socket.destroy())],
    [
      "a program that accepts without the secret",
      () =>
        (host.take = (socket) =>
          socket.write("HTTP/1.1 101 x\r\nUpgrade: toolyard-frames/1\r\ntoolyard-relay: a.b\r\n\r\n")),
    ],
  ])("if %s is at its address", async (_, replace) => {
    replace();
    for (let at = 0; at < 3; at += 1) expect(await send("x").result).toBeUndefined();
    expect(accepted.length).toBe(1);
  });
});

test("a program that repeats a recorded handshake cannot send requests, and is disconnected", async () => {
  const { hello } = new Handshakes("hub-1", () => SECRET).start("hub-2");
  let count = 0;
  handle = () => (count += 1);
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.write(upgradeRequest(new URL(url), hello));
  expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 101 /);
  socket.write(Buffer.concat([Buffer.from([64, 0, 0, 0]), Buffer.alloc(64, 1)]));
  await once(socket, "close");
  expect(count).toBe(0);
});

test("a program that announces a large first record after a recorded handshake is disconnected at once", async () => {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(upgradeRequest(new URL(url), new Handshakes("hub-1", () => SECRET).start("hub-2").hello));
  await once(socket, "data");
  const start = Buffer.alloc(20);
  start.writeUInt32LE(2000);
  socket.write(start);
  await once(socket, "close");
  expect(accepted[0]!.destroyed).toBe(true);
});

test("the first request of a connection may be large", async () => {
  const body = "y".repeat(150_000);
  expect(await textOf(body)).toBe(`answer to ${body}`);
});

describe("with timers of the test", () => {
  test("a connection without a first record is closed after 5 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(upgradeRequest(new URL(url), new Handshakes("hub-1", () => SECRET).start("hub-2").hello));
    await once(socket, "data");
    vi.advanceTimersByTime(4999);
    expect(accepted[0]!.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(accepted[0]!.destroyed).toBe(true);
    socket.destroy();
  });

  test("a request to a hub from which nothing arrives is lost after five checks", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    await send("open").result;
    handle = () => accepted[0]!.pause();
    const { result } = send("x");
    await vi.waitFor(() => expect(accepted[0]!.isPaused()).toBe(true));
    // The checks of both hubs use these timers, so the `ALIVE` frames of the other hub must be held back.
    accepted[0]!.cork();
    for (let check = 0; check < 7; check += 1) vi.advanceTimersByTime(2000);
    expect(await result).toBe("lost");
  });

  test("an unused connection is closed, and a used one stays open", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const first = firstRequest();
    const { caller, result } = send("x");
    const answer = await first;
    for (let minute = 0; minute < 3; minute += 1) {
      for (let check = 0; check < 30; check += 1) {
        vi.advanceTimersByTime(2000);
        await new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));
      }
    }
    ok(answer, "late");
    expect(await result).toBe("answered");
    await caller.ended;
    expect([caller.text, accepted.length]).toEqual(["late", 1]);
    vi.advanceTimersByTime(120_000);
    await once(accepted[0]!, "close");
  });
});
