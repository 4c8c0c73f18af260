// Valid and invalid answers of an MCP server on HTTP: a valid answer arrives byte for byte, an invalid one fails its
// own request, and bytes of neither answer another request.
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { Canceller } from "../../packages/toolyard/src/core/calls/cancellation.ts";
import { readText } from "../../packages/toolyard/src/outbound/client/body.ts";
import { HttpClient } from "../../packages/toolyard/src/outbound/client/http-client.ts";
import { startRaw, type RawRequest, type RawServer } from "../fixtures/raw-answers.ts";
import { createRandom, type Random } from "../support/random.ts";
import { brokenAnswer, goodAnswer, POISON, splitAnswer, type Answer } from "./answer-attacks.ts";

const SEED = 20_261;
const ROUNDS = 250;
/** Fewer rounds with TLS, because a handshake costs more than the rest. */
const ROUNDS_OVER_TLS = 50;

const clients: HttpClient[] = [];

afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

const tlsFile = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
const TLS = { key: readFileSync(tlsFile("server.key")), cert: readFileSync(tlsFile("server.crt")) };

function clientOf(server: RawServer, maxConnections = 2): HttpClient {
  const url = new URL(`${server.origin}/mcp`);
  const caFiles = url.protocol === "https:" ? [tlsFile("ca.crt")] : [];
  const options = { headers: {}, caFiles, connectTimeoutMs: 60_000, maxConnections };
  const client = new HttpClient({ label: "far", url, ...options });
  clients.push(client);
  return client;
}

/** Resolves with the body of the answer; undefined if the request fails. */
async function ask(client: HttpClient, body: string): Promise<string | undefined> {
  const { signal } = new AbortController();
  try {
    const response = await client.request({ method: "POST", headers: {}, body, signal, idleMs: 60_000 });
    return await readText(response.body, { place: client.place, maxBytes: 1_000_000, signal });
  } catch {
    return undefined;
  }
}

/** Starts a server that sends the prepared answer for each request. */
async function answering(answers: ReadonlyMap<string, Answer>, isTls = false): Promise<RawServer> {
  const answer = ({ socket, body }: RawRequest): void => void write(socket, answers.get(body)!);
  return startRaw({ answer, ...(isTls && { tls: TLS }) });
}

async function write(socket: Socket, { pieces, ends }: Answer): Promise<void> {
  for (const piece of pieces) {
    socket.write(Buffer.from(piece, "latin1"));
    if (pieces.length < 20) await nextTurn();
  }
  if (ends) socket.end();
}

type Maker = (random: Random, body: string) => Answer;

function answersBy(make: Maker, random: Random, rounds = ROUNDS): Map<string, Answer> {
  const one = (_: unknown, at: number): [string, Answer] => [
    `request ${at}`,
    make(random, `answer ${at} ${"x".repeat(random.below(300))}`),
  ];
  return new Map(Array.from({ length: rounds }, one));
}

const OVER = [
  ["TCP", false, ROUNDS],
  ["TLS", true, ROUNDS_OVER_TLS],
] as const;

test.each(OVER)(
  "over %s, delivers valid answers byte for byte, in any encoding and pieces",
  async (_, isTls, rounds) => {
    const answers = answersBy(goodAnswer, createRandom(SEED), rounds);
    await using server = await answering(answers, isTls);
    const client = clientOf(server);
    for (const [request, { name, body }] of answers) expect([name, await ask(client, request)]).toEqual([name, body]);
  },
);

test.each(OVER)(
  "over %s, invalid answers fail only their own requests, and no request is repeated",
  async (_, isTls, rounds) => {
    const random = createRandom(SEED + 1);
    const broken = answersBy(brokenAnswer, random, rounds);
    const answers = new Map<string, Answer>(broken);
    for (const request of broken.keys()) answers.set(`${request}, good`, goodAnswer(random, `good after ${request}`));
    await using server = await answering(answers, isTls);
    const client = clientOf(server);
    for (const [request, { name }] of broken) {
      expect([name, await ask(client, request)]).toEqual([name, undefined]);
      expect(await ask(client, `${request}, good`)).toBe(`good after ${request}`);
    }
    const asked = server.requests.map(({ body }) => body);
    expect(asked.toSorted()).toEqual([...answers.keys()].toSorted());
  },
);

test("never uses bytes after an answer as the answer to the next request", async () => {
  const answers = answersBy(splitAnswer, createRandom(SEED + 2));
  await using server = await answering(answers);
  const client = clientOf(server);
  const heard = new Set<string | undefined>();
  for (const request of answers.keys()) heard.add(await ask(client, request));
  expect(heard).toEqual(new Set([...answers.values()].map(({ body }) => body)));
  expect(heard.has(POISON)).toBe(false);
});

test("gives each concurrent caller its own answer while the server sends invalid answers", async () => {
  const random = createRandom(SEED + 3);
  const mixed: Maker = (among, body) => (among.below(3) === 0 ? brokenAnswer : goodAnswer)(among, body);
  const answers = answersBy(mixed, random);
  await using server = await answering(answers);
  const client = clientOf(server);
  const heard = await Promise.all([...answers.keys()].map((request) => ask(client, request)));
  expect(heard).toEqual([...answers.values()].map(({ body }) => body));
});

test("leaves no connection and no answer behind after a thousand cancelled requests", async () => {
  const random = createRandom(SEED + 4);
  // Beginning of an answer that ends at a random byte: no data, part of the headers, all headers, or part of the body.
  const whole = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
  await using server = await startRaw({
    answer: ({ socket, body }) =>
      void socket.write(
        body === "good" ? whole.replace("poison", "heard!") : whole.slice(0, random.below(whole.length)),
      ),
  });
  const client = clientOf(server, 50);
  const given: Promise<unknown>[] = [];
  for (let at = 0; at < 1000; at += 1) {
    const signal = new Canceller();
    const request = { method: "POST", headers: {}, body: `given up ${at}`, signal, idleMs: 60_000 } as const;
    const asked = client.request(request);
    given.push(
      asked.then(({ body }) => readText(body, { place: client.place, maxBytes: 1000, signal })).catch(() => "gone"),
    );
    for (let turns = random.below(4); turns > 0; turns -= 1) await nextTurn();
    if (random.below(2) === 0) signal.abort(new Error("enough"));
    else setImmediate(() => signal.abort(new Error("enough")));
  }
  expect(new Set(await Promise.all(given))).toEqual(new Set(["gone"]));
  await expect.poll(() => server.sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(1);
  const heard = await Promise.all(Array.from({ length: 100 }, () => ask(client, "good")));
  expect(new Set(heard)).toEqual(new Set(["heard!"]));
});

test("stops waiting for headers that arrive byte by byte at the idle limit", async () => {
  const drips: NodeJS.Timeout[] = [];
  await using server = await startRaw({
    answer: ({ socket }) => {
      socket.write("HTTP/1.1 200 OK\r\nA: ");
      drips.push(setInterval(() => socket.write("x"), 5));
    },
  });
  const { signal } = new AbortController();
  const request = { method: "POST", headers: {}, body: "x", signal, idleMs: 100 } as const;
  await expect(clientOf(server).request(request)).rejects.toMatchObject({ failure: { kind: "timeout" } });
  for (const drip of drips) clearInterval(drip);
});

test("does not send a request with a header that HTTP cannot carry, and reports it", async () => {
  await using server = await startRaw({ answer: () => {} });
  const { signal } = new AbortController();
  const headers = { "x-event": "a\u2192b" };
  await expect(clientOf(server).request({ method: "GET", headers, signal, idleMs: 60_000 })).rejects.toMatchObject({
    failure: { kind: "unavailable", message: expect.stringContaining("HTTP does not allow"), details: { sent: false } },
  });
  expect(server.sockets).toHaveLength(0);
});

test("refuses an endless body at its limit, also a chunked one", async () => {
  const endless = (head: string, piece: string) => (socket: Socket) => {
    socket.write(head);
    const more = (): void => void (socket.writable && socket.write(piece, more));
    more();
  };
  const ways = [
    endless("HTTP/1.1 200 OK\r\n\r\n", "x".repeat(64_000)),
    endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", `fa00\r\n${"x".repeat(64_000)}\r\n`),
    endless("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", "x".repeat(64_000)),
  ];
  for (const way of ways) {
    await using server = await startRaw({ answer: ({ socket }) => way(socket) });
    const client = clientOf(server);
    expect(await ask(client, "x")).toBeUndefined();
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  }
});
