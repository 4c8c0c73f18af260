// What an MCP server on HTTP may answer, by the rules and against them: a good answer is heard to the byte, a broken
// one fails its request, and whatever came with either never answers another request.
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { readText } from "../../src/outbound/client/body.ts";
import { HttpClient } from "../../src/outbound/client/http-client.ts";
import { startRaw, type RawServer } from "../fixtures/raw-answers.ts";
import { createRandom, type Random } from "../support/random.ts";
import { brokenAnswer, goodAnswer, POISON, splitAnswer, type Answer } from "./answer-attacks.ts";

const SEED = 20_261;
const ROUNDS = 250;

const clients: HttpClient[] = [];

afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

function clientOf(server: RawServer): HttpClient {
  const url = new URL(`${server.origin}/mcp`);
  const options = { headers: {}, caFiles: [], connectTimeoutMs: 60_000, maxConnections: 2 };
  const client = new HttpClient({ label: "far", url, ...options });
  clients.push(client);
  return client;
}

/** The body that a request is answered with; nothing where it fails. */
async function ask(client: HttpClient, body: string): Promise<string | undefined> {
  const { signal } = new AbortController();
  try {
    const response = await client.request({ method: "POST", headers: {}, body, signal, idleMs: 60_000 });
    return await readText(response.body, { place: client.place, maxBytes: 1_000_000, signal });
  } catch {
    return undefined;
  }
}

/** A server that answers each request with what was made for it. */
async function answering(answers: ReadonlyMap<string, Answer>): Promise<RawServer> {
  return startRaw({ answer: ({ socket, body }) => void write(socket, answers.get(body)!) });
}

async function write(socket: Socket, { pieces, ends }: Answer): Promise<void> {
  for (const piece of pieces) {
    socket.write(Buffer.from(piece, "latin1"));
    if (pieces.length < 20) await nextTurn();
  }
  if (ends) socket.end();
}

type Maker = (random: Random, body: string) => Answer;

function answersBy(make: Maker, random: Random): Map<string, Answer> {
  const one = (_: unknown, at: number): [string, Answer] => [
    `request ${at}`,
    make(random, `answer ${at} ${"x".repeat(random.below(300))}`),
  ];
  return new Map(Array.from({ length: ROUNDS }, one));
}

test("good answers are heard to the byte, however they are written and cut", async () => {
  const answers = answersBy(goodAnswer, createRandom(SEED));
  await using server = await answering(answers);
  const client = clientOf(server);
  for (const [request, { name, body }] of answers) expect([name, await ask(client, request)]).toEqual([name, body]);
});

test("broken answers fail their requests, and no request after them hears anything of them", async () => {
  const random = createRandom(SEED + 1);
  const broken = answersBy(brokenAnswer, random);
  const answers = new Map<string, Answer>(broken);
  for (const request of broken.keys()) answers.set(`${request}, good`, goodAnswer(random, `good after ${request}`));
  await using server = await answering(answers);
  const client = clientOf(server);
  for (const [request, { name }] of broken) {
    expect([name, await ask(client, request)]).toEqual([name, undefined]);
    expect(await ask(client, `${request}, good`)).toBe(`good after ${request}`);
  }
});

test("what comes behind an answer never answers the next request", async () => {
  const answers = answersBy(splitAnswer, createRandom(SEED + 2));
  await using server = await answering(answers);
  const client = clientOf(server);
  const heard = new Set<string | undefined>();
  for (const request of answers.keys()) heard.add(await ask(client, request));
  expect(heard).toEqual(new Set([...answers.values()].map(({ body }) => body)));
  expect(heard.has(POISON)).toBe(false);
});

test("callers at once each hear their own answer beside broken ones", async () => {
  const random = createRandom(SEED + 3);
  const mixed: Maker = (among, body) => (among.below(3) === 0 ? brokenAnswer : goodAnswer)(among, body);
  const answers = answersBy(mixed, random);
  await using server = await answering(answers);
  const client = clientOf(server);
  const heard = await Promise.all([...answers.keys()].map((request) => ask(client, request)));
  expect(heard).toEqual([...answers.values()].map(({ body }) => body));
});

test("a body that never ends is refused at its bound, and so is one in chunks", async () => {
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
