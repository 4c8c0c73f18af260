import { afterEach, describe, expect, test } from "vitest";
import { answerOf, startRaw, type RawRequest, type RawServer } from "../../../../../test/fixtures/raw-answers.ts";
import { createRandom } from "../../../../../test/support/random.ts";
import { Canceller } from "../../core/calls/cancellation.ts";
import type { Caller } from "../../core/fairness/shares.ts";
import { readBytes } from "./body.ts";
import { Connections } from "./connections.ts";
import type { HttpResponse, TransportRequest, Sender } from "./sender.ts";

// The same rule shares limited connections in both senders: the own HTTP/1.1 client, and undici with a proxy.
const WAYS = {
  "by our own client": (server: RawServer) => ({ to: server.origin, proxy: undefined }),
  "by way of a proxy": (server: RawServer) => ({ to: "http://far.test", proxy: server.origin }),
};

const ADA = caller("ada");
const BOB = caller("bob");

function caller(principal: string, connection?: string): Caller {
  return { principal: { id: principal }, client: connection === undefined ? {} : { connection } };
}

const closing: (() => Promise<unknown>)[] = [];

afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** A server that answers a request when the test calls `answer`. */
class HeldServer {
  /** Bodies of all received requests. */
  readonly seen: string[] = [];
  readonly #held = new Map<string, RawRequest>();

  take(request: RawRequest): void {
    this.#held.set(request.body, request);
    this.seen.push(request.body);
  }

  /** Bodies of the requests without an answer, in order of arrival. */
  get underway(): string[] {
    return Array.from(this.#held.keys());
  }

  /** Answers the request with this body, or else the oldest request without an answer. */
  answer(body?: string): void {
    const { body: text, socket } = this.#taken(body);
    socket.write(answerOf(text));
  }

  /** Answers all requests until the promise is settled. */
  async answerUntil<T>(over: Promise<T>): Promise<T> {
    const work = new AbortController();
    const all = over.finally(() => work.abort());
    for (; !work.signal.aborted; await turn()) if (this.#held.size > 0) this.answer();
    return all;
  }

  /** Starts an answer without ending it. */
  begin(body: string): void {
    this.#held.get(body)!.socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n.\r\n");
  }

  /** Closes the connection of a request. */
  cut(body: string): void {
    this.#taken(body).socket.destroy();
  }

  #taken(body = this.underway[0]!): RawRequest {
    const request = this.#held.get(body)!;
    this.#held.delete(body);
    return request;
  }
}

class ServerConnection extends HeldServer {
  readonly sender: Sender;
  readonly #origin: string;

  constructor(sender: Sender, origin: string) {
    super();
    this.sender = sender;
    this.#origin = origin;
  }

  send(body: string, from?: Caller, signal = new Canceller()): Promise<HttpResponse> {
    return this.#send(body, { ...(from && { caller: from }) }, signal);
  }

  /** Sends a message that is answered immediately. */
  tell(body: string): Promise<HttpResponse> {
    return this.#send(body, { isMessage: true }, new Canceller());
  }

  #send(body: string, whose: Partial<TransportRequest>, signal: Canceller): Promise<HttpResponse> {
    return this.sender.send(
      { origin: this.#origin, path: "/", method: "POST", headers: {}, body, silenceMs: 60_000, ...whose },
      signal,
    );
  }
}

async function hold(way: keyof typeof WAYS, maxConnections: number): Promise<ServerConnection> {
  const server = await startRaw({ answer: (request) => held.take(request) });
  const { to, proxy } = WAYS[way](server);
  const connections = new Connections({
    origin: to,
    ...(proxy !== undefined && { proxy }),
    isTunnel: false,
    connectTimeoutMs: 20_000,
    maxConnections,
  });
  const held = new ServerConnection(await connections.open(), to);
  closing.push(
    () => connections.close(),
    async () => server[Symbol.asyncDispose](),
  );
  return held;
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Resolves with the body, or with the code of the rejection. */
async function endOf(sent: Promise<HttpResponse>): Promise<string> {
  const asItIs = (error: unknown): never => error as never;
  try {
    const { body } = await sent;
    return (await readBytes(body, 1_000_000, { tooLarge: () => asItIs("too large"), broken: asItIs })).toString();
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])("%s", (way) => {
  test("a single caller gets every connection, and its requests are served in order", async () => {
    const held = await hold(way, 3);
    const ends = ["1", "2", "3", "4", "5"].map((body) => endOf(held.send(body, ADA)));
    await expect.poll(() => held.underway.length).toBe(3);
    for (let at = 0; at < 5; at += 1) {
      await expect.poll(() => held.underway.length).toBeGreaterThan(0);
      held.answer();
    }
    expect(await Promise.all(ends)).toEqual(["1", "2", "3", "4", "5"]);
    expect(held.seen.slice(3)).toEqual(["4", "5"]);
  });

  test("a free connection goes first to the caller without a connection, even if others wait longer", async () => {
    const held = await hold(way, 2);
    const flood = ["a1", "a2", "a3", "a4", "a5"].map((body) => endOf(held.send(body, ADA)));
    await expect.poll(() => held.underway.length).toBe(2);
    const newcomers = ["b1", "b2"].map((body) => endOf(held.send(body, BOB)));
    held.answer();
    await expect.poll(() => held.seen.length).toBe(3);
    held.answer("b1");
    await expect.poll(() => held.seen.length).toBe(4);
    const ends = await held.answerUntil(Promise.all([...flood, ...newcomers]));
    expect(ends).toEqual(["a1", "a2", "a3", "a4", "a5", "b1", "b2"]);
    expect(held.seen.slice(2, 4)).toEqual(["b1", "b2"]);
  });

  test("within one principal, a free connection goes to a session without one", async () => {
    const held = await hold(way, 1);
    const [one, other] = [caller("ada", "one"), caller("ada", "other")];
    const flood = ["1", "2", "3"].map((body) => endOf(held.send(body, one)));
    const newcomer = endOf(held.send("of another", other));
    await expect.poll(() => held.underway.length).toBe(1);
    held.answer("1");
    await expect.poll(() => held.seen.at(-1)).toBe("of another");
    for (const body of ["of another", "2", "3"]) {
      await expect.poll(() => held.underway).toEqual([body]);
      held.answer();
    }
    expect(await Promise.all([...flood, newcomer])).toEqual(["1", "2", "3", "of another"]);
  });

  test("a streaming answer occupies its connection, and counts for its caller, until it ends", async () => {
    const held = await hold(way, 2);
    const long = endOf(held.send("a1", ADA));
    await expect.poll(() => held.underway).toEqual(["a1"]);
    held.begin("a1");
    const flood = ["a2", "a3"].map((body) => endOf(held.send(body, ADA)));
    const newcomers = ["b1", "b2"].map((body) => endOf(held.send(body, BOB)));
    await expect.poll(() => held.underway).toEqual(["a1", "a2"]);
    held.answer("a2");
    await expect.poll(() => held.seen.at(-1)).toBe("b1");
    // Each caller has one connection, and Ada was served longer ago.
    held.cut("a1");
    await expect.poll(() => held.seen.at(-1)).toBe("a3");
    held.answer("b1");
    await expect.poll(() => held.seen.at(-1)).toBe("b2");
    held.answer("a3");
    held.answer("b2");
    expect(await Promise.all([...flood, ...newcomers])).toEqual(["a2", "a3", "b1", "b2"]);
    expect(await long).not.toBe("a1");
  });

  test("a request that is cancelled in the queue is never sent, and frees its place", async () => {
    const held = await hold(way, 1);
    const first = endOf(held.send("first", ADA));
    await expect.poll(() => held.underway).toEqual(["first"]);
    const signal = new Canceller();
    const given = endOf(held.send("given up", BOB, signal));
    const next = endOf(held.send("next", ADA));
    signal.abort(Object.assign(new Error("enough"), { code: "ENOUGH" }));
    expect(await given).toBe("ENOUGH");
    held.answer();
    await expect.poll(() => held.underway).toEqual(["next"]);
    held.answer();
    expect(await Promise.all([first, next])).toEqual(["first", "next"]);
    expect(held.seen).toEqual(["first", "next"]);
  });

  test("cancelling a running request frees its connection for others", async () => {
    const held = await hold(way, 1);
    const signal = new Canceller();
    const given = endOf(held.send("given up", ADA, signal));
    await expect.poll(() => held.underway).toEqual(["given up"]);
    const others = [endOf(held.send("a", ADA)), endOf(held.send("b", BOB))];
    signal.abort(Object.assign(new Error("enough"), { code: "ENOUGH" }));
    expect(await given).toBe("ENOUGH");
    await expect.poll(() => held.seen.length).toBe(2);
    held.answer("b");
    await expect.poll(() => held.seen.length).toBe(3);
    held.answer("a");
    expect(await Promise.all(others)).toEqual(["a", "b"]);
    expect(held.seen).toEqual(["given up", "b", "a"]);
  });

  test("only a notification or reply may use one connection above the limit", async () => {
    const held = await hold(way, 2);
    const ends = ["1", "2", "3", "4"].map((body) => endOf(held.send(body, ADA)));
    await expect.poll(() => held.underway).toHaveLength(2);
    const messages = [endOf(held.tell("m1")), endOf(held.tell("m2"))];
    await expect.poll(() => held.underway).toHaveLength(3);
    expect(held.seen[2]).toBe("m1");
    held.answer(held.seen[0]);
    // The oldest queued request must wait: with it, three requests would run, and the limit is two.
    held.answer("m1");
    await expect.poll(() => held.seen.length).toBe(4);
    held.answer("m2");
    expect(await Promise.all(messages)).toEqual(["m1", "m2"]);
    expect(await held.answerUntil(Promise.all(ends))).toEqual(["1", "2", "3", "4"]);
  });

  test("a full queue rejects a request of the busiest caller to admit a new caller", async () => {
    const held = await hold(way, 1);
    const ends = Array.from({ length: 10_001 }, (_, at) => endOf(held.send(`a${at}`, ADA)));
    expect(await endOf(held.send("a beyond", ADA))).toBe("TOOLYARD_CROWDED");
    const newcomer = endOf(held.send("b", BOB));
    expect(await ends.at(-1)).toBe("TOOLYARD_CROWDED");
    await expect.poll(() => held.underway).toEqual(["a0"]);
    held.answer();
    await expect.poll(() => held.underway).toEqual(["b"]);
    held.answer();
    expect(await newcomer).toBe("b");
    await held.sender.destroy();
    const left = new Set(await Promise.all(ends.slice(2, -1)));
    expect(left).toEqual(new Set(["TOOLYARD_CLOSED"]));
  });

  test.each(Array.from({ length: 20 }, (_, at) => at + 4201))(
    "every request of several callers ends, for any answers, closed connections and cancellations, seed %i",
    async (seed) => {
      const random = createRandom(seed);
      const maxConnections = 1 + random.below(4);
      const held = await hold(way, maxConnections);
      const callers = ["ada", "bob", "cyd"].flatMap((one) => [caller(one, "1"), caller(one, "2"), caller(one)]);
      const signals: Canceller[] = [];
      const ends: Promise<string>[] = [];
      const steps: (() => void)[] = [
        () => {
          const signal = new Canceller();
          signals.push(signal);
          // The first caller sends most requests.
          const from = random.below(3) > 0 ? callers[0]! : random.pick(callers);
          ends.push(endOf(held.send(`${ends.length}`, from, signal)));
        },
        () => void (held.underway.length > 0 && held.answer(random.pick(held.underway))),
        () => void (held.underway.length > 0 && random.below(3) === 0 && held.cut(random.pick(held.underway))),
        () => void (signals.length > 0 && random.pick(signals).abort(Object.assign(new Error(), { code: "GONE" }))),
      ];
      for (let step = 0; step < 150; step += 1) {
        (random.below(2) === 0 ? steps[0]! : random.pick(steps))();
        if (random.below(3) === 0) await turn();
      }
      const given = await held.answerUntil(Promise.all(ends));
      expect(given.filter((end, at) => end !== String(at) && end !== "GONE").every((end) => isCut(end))).toBe(true);
      expect(new Set(held.seen).size).toBe(held.seen.length);
    },
  );
});

function isCut(end: string): boolean {
  return ["TOOLYARD_CLOSED", "UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(end);
}
