// Answers do not reveal existence: a hub answers requests about hidden entries exactly like a hub without them, for
// every request and endpoint.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { createRandom } from "../support/random.ts";
import { JSON_HEADERS, openTarget, openUpstream, tool, type Target, type Upstream } from "./attack.ts";
import { askerOf, heard, randomArguments, randomWord, WAYS, type Asker, type ExistenceTarget } from "./existence.ts";

const SEEDS = [3, 20_261_123];
const READS = { annotations: { readOnlyHint: true } };
const TOKENS = {
  guest: { token: "guest-token-2", allow: ["pub__*", "file:///public/*", "meta.*"] },
  barred: { token: "barred-token-3", deny: ["vault__*", "*:///vault/*"] },
  reader: { token: "reader-token-4", read_only: true, deny: ["*:///vault/*", "vault__heist"] },
} as const;
type Name = keyof typeof TOKENS;
const NAMES = Object.keys(TOKENS) as Name[];

const NEEDS = { inputSchema: { type: "object", properties: { who: { type: "string" } }, required: ["who"] } };
const HIDDEN = [tool("open", NEEDS), tool("burn", { annotations: { destructiveHint: true } })];
const ROUTES = {
  "GET /vault/open": "vault__open",
  "POST /vault/burn": "vault__burn",
  "DELETE /vault/burn": "vault__burn",
  "POST /both": "vault__burn",
};
const KNOWN_ROUTES = { "GET /both": "pub__time", "GET /time": "pub__time", "POST /time": "pub__time" };

let full: Target;
let bare: Target;
const upstreams: Upstream[] = [];

beforeAll(async () => {
  full = await open(HIDDEN, ROUTES);
  bare = await open([], {});
});
afterAll(async () => {
  for (const target of [full, bare]) await target[Symbol.asyncDispose]();
  for (const server of upstreams) await server.close();
});

async function open(hidden: readonly JsonObject[], routes: JsonObject): Promise<Target> {
  const hasHidden = hidden.length > 0;
  const vault = await openUpstream({
    tools: [...hidden, tool("peek", READS)],
    resources: hasHidden ? [{ uri: "file:///vault/gold", name: "gold" }] : [],
    templates: hasHidden ? [{ uriTemplate: "file:///vault/{+path}", name: "files" }] : [],
    prompts: hasHidden ? [{ name: "heist", arguments: [{ name: "who" }] }] : [],
  });
  const pub = await openUpstream({ tools: [tool("hello"), tool("time", READS)], prompts: [{ name: "greet" }] });
  upstreams.push(vault, pub);
  const target = await openTarget({
    limits: { rate_per_minute: 0 },
    server: { tokens: TOKENS as never },
    rest: { routes: { ...routes, ...KNOWN_ROUTES } as never },
    mcp: {
      remote_servers: [
        { namespace: "vault", url: vault.url },
        { namespace: "pub", url: pub.url },
      ],
    },
  });
  await target.hub.list();
  return target;
}

const THINGS: readonly ExistenceTarget[] = [
  { tool: "vault__open", prompt: "vault__heist", uri: "file:///vault/gold", path: "/vault/open" },
  { tool: "vault__burn", prompt: "vault::heist", uri: "file:///vault/x", path: "/vault/burn" },
  { tool: "vault::open", prompt: "heist", uri: "vault+file:///vault/gold", path: "/vault/burn/" },
  { tool: "burn", prompt: "VAULT__heist", uri: "file:///vault/{+path}", path: "/both" },
];

/** Requests that need no token. */
const WITHOUT_TOKEN = Object.entries(WAYS).filter(([what]) => /\bat\b|JSON-RPC|uri=/.test(what));

describe.each(SEEDS)("seed %i", (seed) => {
  test.each(NAMES)("S15: a %s learns nothing about entries that it may not use, on any endpoint", async (name) => {
    const random = createRandom(seed);
    const [there, absent] = [await askerOf(full, TOKENS[name].token), await askerOf(bare, TOKENS[name].token)];
    for (const [what, way] of Object.entries(WAYS)) {
      const args = randomArguments(random);
      const word = randomWord(random);
      const other = {
        tool: `vault__${word}`,
        prompt: `vault__${word}`,
        uri: `file:///vault/${word}`,
        path: `/${word}`,
      };
      for (const wanted of [random.pick(THINGS), other])
        expect(await heard(way, there, wanted, args), `${what} ${JSON.stringify(wanted)}`).toBe(
          await heard(way, absent, wanted, args),
        );
    }
  });

  test("S15: a caller without a token learns nothing about entries, on any endpoint", async () => {
    const random = createRandom(seed);
    const [there, absent] = [full, bare].map((target) => ({ target, token: undefined }) as Asker);
    for (const [what, way] of WITHOUT_TOKEN) {
      for (const wanted of THINGS) {
        const args = randomArguments(random);
        expect(await heard(way, there!, wanted, args), `${what} ${JSON.stringify(wanted)}`).toBe(
          await heard(way, absent!, wanted, args),
        );
      }
    }
  });
});

async function ask(method: string, path: string, name: Name): Promise<readonly unknown[]> {
  const authorization = `Bearer ${TOKENS[name].token}`;
  const body = method === "POST" ? "{}" : undefined;
  const sent = { method, path, headers: { ...JSON_HEADERS, authorization }, ...(body !== undefined && { body }) };
  const { status, headers } = await full.send(sent);
  return [status, headers["allow"]];
}

test.each(NAMES)("S15: serves a %s at paths that lead to permitted tools, and names their methods", async (name) => {
  expect(await ask("GET", "/time", name)).toEqual([200, undefined]);
  expect(await ask("POST", "/time", name)).toEqual([200, undefined]);
  expect(await ask("PUT", "/time", name)).toEqual([405, "GET, POST, HEAD, OPTIONS"]);
  expect(await ask("OPTIONS", "/both", name)).toEqual([204, "GET, HEAD, OPTIONS"]);
});
