// Bodies whose objects have more keys than anybody needs, against every door that reads JSON.
import { afterAll, beforeAll, expect, test } from "vitest";
import { JSON_HEADERS, openTarget, rpc, type Target } from "./attack.ts";

let target: Target;

beforeAll(async () => {
  target = await openTarget({ server: { port: 0, max_json_keys: 1000 } });
});
afterAll(() => target[Symbol.asyncDispose]());

const objectOf = (keys: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, index]));
const tools = (args: unknown): string => rpc("tools/call", { name: "meta.ping", arguments: args as never });

const DOORS: readonly [string, (args: unknown) => string][] = [
  ["/", (args) => rpc("meta.ping", args as never)],
  ["/jsonrpc", tools],
  ["/mcp", tools],
  ["/api/tools/meta.ping", (args) => JSON.stringify(args)],
  ["/messages?sessionId=none", tools],
];

test.each(DOORS)(
  "S4: at %s an object of too many keys is 400, and says what the bound is called",
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

test.each(DOORS)(
  "S4: at %s an object of as many keys as the bound is no body that is refused",
  async (path, bodyOf) => {
    const answer = await target.send({ path, headers: JSON_HEADERS, body: bodyOf(objectOf(900)) });
    expect(answer.body).not.toContain("max_json_keys");
  },
);

test("S4: by default 250,000 keys are refused before anybody looks at them", async () => {
  await using plain = await openTarget();
  const answer = await plain.send({
    path: "/jsonrpc",
    headers: JSON_HEADERS,
    body: rpc("meta.ping", objectOf(250_000)),
  });
  expect([answer.status, answer.body]).toEqual([400, expect.stringContaining("10000 keys")]);
});
