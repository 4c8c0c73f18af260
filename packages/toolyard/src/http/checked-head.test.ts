// Tests of requests that repeat the head of the previous request on the same connection.
import { createConnection } from "node:net";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import type { Principal } from "../core/calls/call.ts";
import type { Authentication, Authenticator } from "../core/ports/authenticator.ts";
import { SILENT_LOGGER } from "../core/ports/ports.ts";
import { EVERYTHING } from "../core/ports/rights.ts";
import { createListener } from "./adapters/node/listener.ts";
import type { HttpExchange } from "./exchange.ts";
import { resolveHttp } from "./options.ts";
import type { Listener } from "./listening/listener.ts";
import { sendJson } from "./answer/send.ts";

const open: Listener[] = [];

afterEach(async () => {
  for (const listener of open.splice(0)) await listener.close();
});

/** Authenticator that returns the given results in turn, one for each authentication. */
class Turns implements Authenticator {
  readonly #answers: Authentication[];

  constructor(...answers: Authentication[]) {
    this.#answers = answers;
  }

  authenticate(): Authentication {
    return this.#answers.shift() ?? REFUSED;
  }
}

const REFUSED: Authentication = { admitted: false, message: "No token", challenge: "Bearer" };
const admitted = (id: string): Authentication => ({ admitted: true, principal: { id, rights: EVERYTHING } });

interface Server {
  readonly port: number;
  readonly heads: number[];
}

/** Starts a server whose answers name the caller and the path, and which counts how often the head was read. */
async function serve(authenticator: Authenticator): Promise<Server> {
  const listener = createListener(resolveHttp({ port: 0 }), SILENT_LOGGER, authenticator);
  open.push(listener);
  const heads: number[] = [];
  const readHead = (exchange: HttpExchange): { readonly word: string | undefined } => {
    heads.push(heads.length + 1);
    return { word: exchange.header("x-word") };
  };
  listener.route({ methods: ["GET"], path: "/who/*" }, (exchange) => {
    const { principal, path, search } = exchange;
    const { word } = exchange.ofHead(readHead);
    sendJson(exchange.answer, 200, JSON.stringify({ id: (principal satisfies Principal).id, path, search, word }));
  });
  const { url } = await listener.listen();
  return { port: Number(new URL(url).port), heads };
}

/** Sends requests over one connection, one after the other. Returns their status lines and bodies. */
async function ask(port: number, ...heads: readonly string[]): Promise<string[]> {
  const socket = createConnection(port, "127.0.0.1").setEncoding("utf8");
  const answers: string[] = [];
  for (const head of heads) {
    socket.write(`${head}\r\n\r\n`);
    const [text] = (await once(socket, "data")) as [string];
    answers.push(`${text.slice(9, 12)} ${text.slice(text.indexOf("\r\n\r\n") + 4)}`);
  }
  socket.destroy();
  return answers;
}

const head = (path: string, ...fields: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, "host: 127.0.0.1", ...fields].join("\r\n");

test("each request is authenticated, although its head was checked before", async () => {
  const { port } = await serve(new Turns(admitted("ann"), admitted("ben"), REFUSED, admitted("ann")));
  const same = head("/who/a?b=c");
  const [first, second, third, fourth] = await ask(port, same, same, same, same);
  expect(first).toBe('200 {"id":"ann","path":"/who/a","search":"b=c"}');
  expect(second).toBe('200 {"id":"ben","path":"/who/a","search":"b=c"}');
  expect(third).toMatch(/^401 .*No token/);
  expect(fourth).toBe(first);
});

test("checks each different head on one connection separately", async () => {
  const { port, heads } = await serve(new Turns(...Array.from({ length: 6 }, () => admitted("ann"))));
  const answers = await ask(
    port,
    head("/who/a", "x-word: one"),
    head("/who/a", "x-word: one"),
    head("/who/a", "x-word: two"),
    head("/who/b", "x-word: two"),
    head("/who/a", "x-word: one"),
  );
  expect(answers.map((answer) => JSON.parse(answer.slice(4)) as object)).toMatchObject([
    { path: "/who/a", word: "one" },
    { path: "/who/a", word: "one" },
    { path: "/who/a", word: "two" },
    { path: "/who/b", word: "two" },
    { path: "/who/a", word: "one" },
  ]);
  expect(heads).toHaveLength(4);
});

test.each([
  ["a foreign host", [head("/who/a").replace("127.0.0.1", "evil.example")], "403"],
  ["a foreign origin", [head("/who/a", "origin: https://evil.example")], "403"],
  ["a page of another site", [head("/who/a", "sec-fetch-site: cross-site")], "403"],
  ["an unknown path", [head("/nowhere")], "404"],
  ["another method", [head("/who/a").replace("GET", "DELETE")], "405"],
])("a repeated head with %s is refused each time", async (_what, [refused], status) => {
  const { port } = await serve(new Turns(...Array.from({ length: 5 }, () => admitted("ann"))));
  const answers = await ask(port, head("/who/a"), refused!, refused!, head("/who/a"));
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(["200", status, status, "200"]);
});

test("a health path is answered each time without authentication", async () => {
  const { port } = await serve(new Turns());
  const answers = await ask(port, head("/healthz"), head("/healthz"));
  expect(answers).toEqual(['200 {"status":"ok"}', '200 {"status":"ok"}']);
});
