// Roles and scopes on every surface: rights that several roles add together, and operations that require a scope.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import {
  initialize,
  isRefused,
  JSON_HEADERS,
  openTarget,
  openUpstream,
  rpc,
  tool,
  wordsOf,
  type RawAnswer,
  type RawRequest,
  type Target,
  type Upstream,
} from "../security/attack.ts";

const READS = { annotations: { readOnlyHint: true } };
const TOKENS = {
  reader: { token: "reader-token-1" },
  writer: { token: "writer-token-2" },
  both: { token: "both-token-3" },
  narrow: { token: "narrow-token-4", allow: ["pub__hello"] },
  free: { token: "free-token-5" },
};
const ROLES = {
  reader: { read_only: true, members: { tokens: ["reader", "both"] } },
  writer: { sources: ["pub"], scopes: ["pub:write"], members: { tokens: ["writer", "both", "narrow"] } },
  careful: { allow: [], deny: ["vault::*"], members: { tokens: ["both"] } },
};
const SCOPES = { "pub:write": { required_by: ["pub::hello", "web://news", "pub::greet"] } };
const PROFILES = { pub: { sources: ["pub"], roles: ["writer"] } };

let vault: Upstream;
let pub: Upstream;
let target: Target;

type Name = keyof typeof TOKENS;

function send({ headers, ...request }: RawRequest, name: Name): Promise<RawAnswer> {
  const authorization = `Bearer ${TOKENS[name].token}`;
  return target.send({ ...request, headers: { ...JSON_HEADERS, authorization, ...headers } });
}

async function listed(name: Name): Promise<string[]> {
  const client = await target.client(TOKENS[name].token, { era: "modern" });
  const { result } = await client.request("tools/list");
  return ((result as JsonObject)["tools"] as { name: string }[])
    .map((one) => one.name)
    .filter((one) => /^(vault|pub)__/.test(one));
}

async function call(name: Name, wanted: string, era: "legacy" | "modern" = "modern"): Promise<JsonObject> {
  const client = await target.client(TOKENS[name].token, { era });
  return client.request("tools/call", { name: wanted, arguments: {} });
}

describe.each([1, 2])("with %i serving process(es)", (workers) => {
  beforeAll(async () => {
    vault = await openUpstream({ tools: [tool("open"), tool("peek", READS)] });
    pub = await openUpstream({
      tools: [tool("hello"), tool("time", READS)],
      resources: [{ uri: "web://news", name: "news" }],
      prompts: [{ name: "greet" }],
    });
    target = await openTarget({
      server: { tokens: TOKENS, workers, jsonrpc: true },
      rest: { enabled: true },
      roles: ROLES,
      scopes: SCOPES,
      profiles: PROFILES,
      mcp: {
        remote_servers: [
          { namespace: "vault", url: vault.url },
          { namespace: "pub", url: pub.url },
        ],
      },
    });
    await target.hub.list();
  });

  afterAll(async () => {
    await target[Symbol.asyncDispose]();
    for (const server of [vault, pub]) await server.close();
  });

  test.each<[Name, string[]]>([
    ["reader", ["pub__time", "vault__peek"]],
    ["writer", ["pub__hello", "pub__time"]],
    ["both", ["pub__hello", "pub__time"]],
    ["narrow", ["pub__hello"]],
    ["free", ["pub__hello", "pub__time", "vault__open", "vault__peek"]],
  ])("the token %s lists and calls the tools that its roles and its own rights permit", async (name, expected) => {
    expect((await listed(name)).toSorted()).toEqual(expected);
    for (const one of ["pub__time", "vault__open", "vault__peek"])
      expect(isRefused(await call(name, one)), one).toBe(!expected.includes(one));
  });

  test("refuses a call without its required scope and names the scope, on every surface", async () => {
    for (const era of ["legacy", "modern"] as const) {
      const reply = await call("reader", "pub__time", era);
      expect(isRefused(reply)).toBe(false);
      expect(wordsOf(await call("writer", "pub__hello", era))).toContain("hello");
    }
    const requests: RawRequest[] = [
      { path: "/api/tools/pub__hello", body: "{}" },
      { path: "/api/resources?uri=web%3A%2F%2Fnews", method: "GET" },
      { path: "/jsonrpc", body: rpc("tools/call", { name: "pub__hello", arguments: {} }) },
      { path: "/jsonrpc", body: rpc("pub__hello") },
    ];
    for (const request of requests) {
      expect((await send(request, "writer")).body, request.path).not.toContain("needs the scope");
      const { body } = await send(request, "free");
      expect(body, request.path).toContain("needs the scope pub:write");
    }
  });

  test("prompts, completion, subscriptions and nested calls require the scope, too", async () => {
    const [free, writer] = await Promise.all(
      (["free", "writer"] as const).map((name) => target.client(TOKENS[name].token, { era: "legacy" })),
    );
    const ref = { type: "ref/prompt", name: "pub__greet" };
    const requests: [string, JsonObject][] = [
      ["prompts/get", { name: "pub__greet" }],
      ["completion/complete", { ref, argument: { name: "who", value: "" } }],
      ["resources/read", { uri: "web://news" }],
      ["resources/subscribe", { uri: "web://news" }],
      ["tools/call", { name: "execute_tool", arguments: { name: "pub__hello" } }],
    ];
    for (const [method, params] of requests) {
      expect(JSON.stringify(await free!.request(method, params)), method).toContain("needs the scope pub:write");
      expect(JSON.stringify(await writer!.request(method, params)), method).not.toContain("needs the scope");
    }
  });

  test("answers 404 for a profile that is bound to a role to callers without that role", async () => {
    const reading = { path: "/mcp/pub", body: initialize() };
    expect((await send(reading, "writer")).status).toBe(200);
    const refused = await send(reading, "reader");
    const missing = await send({ ...reading, path: "/mcp/missing" }, "reader");
    expect([refused.status, refused.body]).toEqual([404, missing.body.replace("missing", "pub")]);
    expect((await send(reading, "free")).status).toBe(404);
  });

  test("shows callers their identity, roles and rights, but no pattern that denies them access", async () => {
    const answer = await send({ path: "/whoami", method: "GET" }, "both");
    expect(JSON.parse(answer.body)).toMatchObject({
      id: "both",
      kind: "token",
      roles: ["reader", "writer", "careful"],
      scopes: ["pub:write"],
    });
    expect(answer.body).not.toContain("vault");
    const within = await send({ path: "/mcp/pub/whoami", method: "GET" }, "writer");
    expect(JSON.parse(within.body)).toMatchObject({ id: "writer", profile: "pub" });
    expect((await target.send({ path: "/whoami", method: "GET" })).status).toBe(401);
  });
});

test("a hub without roles and scopes gives a token the rights of its entry", async () => {
  await using plain = await openTarget({ server: { tokens: { one: { token: "one-token-1", rate_per_minute: 7 } } } });
  const headers = { authorization: "Bearer one-token-1" };
  const answer = await plain.send({ path: "/whoami", method: "GET", headers });
  expect(JSON.parse(answer.body)).toEqual({
    id: "one",
    kind: "token",
    name: "one",
    groups: [],
    scopes: [],
    roles: [],
    ratePerMinute: 7,
    rights: ["everything"],
  });
});
