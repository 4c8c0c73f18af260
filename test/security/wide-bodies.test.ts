// Bodies with objects that have too many keys, against every endpoint that reads JSON.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom, type Random } from "../support/random.ts";
import { JSON_HEADERS, openTarget, rpc, type Target } from "./attack.ts";

let target: Target;

beforeAll(async () => {
  target = await openTarget({ server: { port: 0, max_json_keys: 1000 } });
});
afterAll(() => target[Symbol.asyncDispose]());

const objectOf = (keys: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, index]));
const tools = (args: unknown): string => rpc("tools/call", { name: "meta.ping", arguments: args as never });

const ENDPOINTS: readonly [string, (args: unknown) => string][] = [
  ["/", (args) => rpc("meta.ping", args as never)],
  ["/jsonrpc", tools],
  ["/mcp", tools],
  ["/api/tools/meta.ping", (args) => JSON.stringify(args)],
  ["/messages?sessionId=none", tools],
];

test.each(ENDPOINTS)(
  "S4: at %s, refuses an object with too many keys with 400 and names the limit",
  async (path, bodyOf) => {
    for (const args of [
      objectOf(1001),
      { rows: Array.from({ length: 250 }, () => objectOf(100)) },
      { deep: [{ a: objectOf(1001) }] },
    ]) {
      const answer = await target.send({ path, headers: JSON_HEADERS, body: bodyOf(args) });
      expect([answer.status, answer.body]).toEqual([
        400,
        expect.stringMatching(/more than 1000 keys.*server\.max_json_keys/),
      ]);
    }
  },
);

test.each(ENDPOINTS)("S4: at %s accepts an object with as many keys as the limit", async (path, bodyOf) => {
  const answer = await target.send({ path, headers: JSON_HEADERS, body: bodyOf(objectOf(900)) });
  expect(answer.body).not.toContain("max_json_keys");
});

test("S4: by default refuses 250,000 keys before it reads them", async () => {
  await using plain = await openTarget();
  const answer = await plain.send({
    path: "/jsonrpc",
    headers: JSON_HEADERS,
    body: rpc("meta.ping", objectOf(250_000)),
  });
  expect([answer.status, answer.body]).toEqual([400, expect.stringContaining("10000 keys")]);
});

const SEEDS = [5, 20_261_123, 3_141_592_653];
const BODIES_OF_A_SEED = 12;

/** Returns whitespace between two tokens. */
const blank = (random: Random): string => random.pick(["", "", " ", "\n\t", "\r\n  "]);

/** Returns a key as JSON text: plain, numeric, with escapes, or full of structural characters. */
function keyText(random: Random, at: number): string {
  const escaped = `"\\u${(0x4e00 + (at % 5000)).toString(16)}${at}"`;
  return random.pick([`"k${at}"`, `"${at}"`, escaped, `"\\"{[:,${at}"`, '"twice"']);
}

/** Returns the text of an object with this number of keys, with other values around it. */
function wideText(random: Random, keys: number): string {
  const members = Array.from({ length: keys }, (_, at) => `${keyText(random, at)}${blank(random)}:${blank(random)}1`);
  let text = `{${members.join(`${blank(random)},`)}}`;
  for (let depth = random.below(8); depth > 0; depth -= 1) {
    const value = random.pick(["1", '"}]"', "{}", "[]", '{"a":[{}]}']);
    text = random.pick([
      `[${value},${text}]`,
      `[${text}${blank(random)},${value}]`,
      `{"x":${value},"y":${blank(random)}${text}}`,
    ]);
  }
  return `{"in":${text}}`;
}

/** Returns a long text with few keys. */
function longText(random: Random): string {
  const piece = random.pick(['{"a":1},', '\\"k\\":', "::::", '"'.repeat(3), "}{", "\\"]);
  return random.pick([
    JSON.stringify({ text: piece.repeat(20_000) }),
    JSON.stringify({ rows: Array.from({ length: 300 }, () => ({ [piece]: piece.repeat(9), b: [] })) }),
    JSON.stringify({ list: Array.from({ length: 30_000 }, (_, at) => at) }),
    wideText(random, 900),
  ]);
}

const MARK = "@mark@";

describe.each(SEEDS)("bodies of the seed %i", (seed) => {
  test.each(ENDPOINTS)("S4: at %s, refuses wide objects at any place and in any spelling", async (path, bodyOf) => {
    const random = createRandom(seed);
    const body = bodyOf(MARK);
    for (let round = 0; round < BODIES_OF_A_SEED; round += 1) {
      const text = wideText(random, 1001 + random.below(3000));
      const sent = body.replace(`"${MARK}"`, () => text);
      const answer = await target.send({ path, headers: JSON_HEADERS, body: sent });
      expect([round, answer.status, answer.body]).toEqual([round, 400, expect.stringContaining("more than 1000 keys")]);
    }
  });

  test.each(ENDPOINTS)("S4: at %s accepts long bodies with few keys", async (path, bodyOf) => {
    const random = createRandom(seed);
    const body = bodyOf(MARK);
    for (let round = 0; round < BODIES_OF_A_SEED; round += 1) {
      const text = longText(random);
      expect(JSON.parse(text)).toBeTypeOf("object");
      const sent = body.replace(`"${MARK}"`, () => text);
      const answer = await target.send({ path, headers: JSON_HEADERS, body: sent });
      expect([round, answer.body]).toEqual([round, expect.not.stringContaining("max_json_keys")]);
      expect(answer.status).toBeLessThan(500);
    }
  });
});

describe("arguments of execute_tool as a text", () => {
  const send = async (text: string): Promise<string> => {
    const params = { name: "execute_tool", arguments: { name: "meta.ping", arguments: text } };
    const { body } = await target.send({ path: "/jsonrpc", headers: JSON_HEADERS, body: rpc("tools/call", params) });
    return body;
  };
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

  test.each([
    ["as many keys as a request may have", JSON.stringify(objectOf(10_000))],
    ["as many levels", nested(128)],
    ["much text in them", JSON.stringify({ text: '{"a":'.repeat(50_000) })],
  ])("S4: with %s are accepted", async (_, text) => {
    expect(await send(text)).toContain("pong");
  });

  test.each([
    ["one key more", JSON.stringify(objectOf(10_001))],
    ["180,000 keys", JSON.stringify(objectOf(180_000))],
    ["one level more", nested(129)],
    ["100,000 levels", nested(100_000)],
  ])("S4: with %s, refuses them and names the limits", async (_, text) => {
    expect(await send(text)).toMatch(/`arguments` is a text that nests deeper than 128 levels.*10000 keys/);
  });
});
