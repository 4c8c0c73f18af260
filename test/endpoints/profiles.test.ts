// Profiles on every surface of a hub: listed tools, allowed calls, and the choices that stay with the caller.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient, type EraName } from "../fixtures/raw/raw-client.ts";
import { SseWire } from "../fixtures/raw/sse-wire.ts";
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
  owner: { token: "owner-token-1" },
  guest: { token: "guest-token-2", allow: ["pub__time", "vault__peek"] },
};
const PROFILES = {
  pub: { sources: ["pub"], title: "Public tools", instructions: "Only public tools here." },
  picked: { tools: ["vault::peek", "pub__*"], deny: ["pub::time"] },
  reading: { read_only: true },
  searching: { sources: ["pub"], tool_mode: "discovery" as const },
  plain: {},
};

let vault: Upstream;
let pub: Upstream;
let target: Target;
let clients: RawClient[] = [];

async function open(workers: number): Promise<void> {
  vault = await openUpstream({
    instructions: "Open the vault first.",
    tools: [tool("open"), tool("peek", READS)],
    resources: [{ uri: "file:///vault/gold", name: "gold" }],
    templates: [{ uriTemplate: "file:///vault/{name}", name: "files" }],
    prompts: [{ name: "heist" }],
  });
  pub = await openUpstream({
    tools: [tool("hello"), tool("time", READS)],
    resources: [{ uri: "web://news", name: "news" }],
    prompts: [{ name: "greet" }],
  });
  target = await openTarget({
    server: { tokens: TOKENS, workers, jsonrpc: true },
    rest: { enabled: true },
    profiles: PROFILES,
    mcp: {
      remote_servers: [
        { namespace: "vault", url: vault.url },
        { namespace: "pub", url: pub.url },
      ],
    },
  });
  await target.hub.list();
}

async function close(): Promise<void> {
  await target[Symbol.asyncDispose]();
  for (const server of [vault, pub]) await server.close();
}

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

async function connect(profile: string, era: EraName, token = TOKENS.owner.token): Promise<RawClient> {
  const wire = new HttpWire(`${target.url}/${profile}`, era, { authorization: `Bearer ${token}` });
  const client = await RawClient.open(wire, { era });
  clients.push(client);
  return client;
}

function send({ headers, ...request }: RawRequest, token = TOKENS.owner.token): Promise<RawAnswer> {
  return target.send({ ...request, headers: { ...JSON_HEADERS, authorization: `Bearer ${token}`, ...headers } });
}

async function names(client: RawClient, method: string, member: string): Promise<unknown[]> {
  const { result } = await client.request(method);
  return ((result as JsonObject)[member] as JsonObject[]).map(({ name }) => name);
}

function call(client: RawClient, name: string): Promise<JsonObject> {
  return client.request("tools/call", { name, arguments: {} });
}

const ALL_MODE = { headers: { "x-mcp-tool-mode": "all" } };
const withoutHub = (list: readonly unknown[]) => list.filter((name) => /^(vault|pub)__/.test(String(name)));

describe.each([1, 2])("with %i serving process(es)", (workers) => {
  beforeAll(() => open(workers));
  afterAll(close);

  describe.each(["legacy", "modern"] as const)("a client of the %s era", (era) => {
    test("lists and calls only the sources of its profile", async () => {
      const client = await connect("pub", era);
      expect(await names(client, "tools/list", "tools")).toEqual(expect.arrayContaining(["pub__hello", "pub__time"]));
      expect(withoutHub(await names(client, "tools/list", "tools"))).toHaveLength(2);
      expect(await names(client, "prompts/list", "prompts")).toEqual(["pub__greet"]);
      expect(await names(client, "resources/list", "resources")).toEqual(["news"]);
      expect(await names(client, "resources/templates/list", "resourceTemplates")).toEqual([]);
      expect(wordsOf(await call(client, "pub__hello"))).toContain("hello");
      for (const name of ["vault__peek", "vault::peek", "peek", "vault.open"])
        expect(isRefused(await call(client, name)), name).toBe(true);
      expect(isRefused(await client.request("resources/read", { uri: "file:///vault/gold" }))).toBe(true);
      expect(isRefused(await client.request("prompts/get", { name: "vault__heist" }))).toBe(true);
      expect(JSON.stringify(await call(client, "vault__peek"))).toContain("No right");
    });

    test("receives the title and the instructions of its profile, and no text of other sources", async () => {
      const { opening } = await connect("pub", era);
      expect(opening["instructions"]).toBe("Only public tools here.");
      expect(JSON.stringify(opening)).toContain("Public tools");
      const plain = await connect("plain", era);
      expect(plain.opening["instructions"]).toContain("Open the vault first.");
    });

    test("receives the tools that match its profile's patterns, and no prompts or resources", async () => {
      const client = await connect("picked", era);
      expect(withoutHub(await names(client, "tools/list", "tools"))).toEqual(["pub__hello", "vault__peek"]);
      expect(await names(client, "prompts/list", "prompts")).toEqual([]);
      expect(await names(client, "resources/list", "resources")).toEqual([]);
      expect(wordsOf(await call(client, "vault__peek"))).toContain("peek");
      expect(isRefused(await call(client, "pub__time"))).toBe(true);
    });

    test("uses the tool mode of its profile if it names none", async () => {
      const client = await connect("searching", era);
      expect(await names(client, "tools/list", "tools")).toEqual(["execute_tool", "tool_search"]);
      const found = wordsOf(await client.request("tools/call", { name: "tool_search", arguments: { query: "" } }));
      expect(found).toContain("pub__hello");
      expect(found).not.toContain("vault");
      const through = { name: "execute_tool", arguments: { name: "vault__peek" } };
      expect(isRefused(await client.request("tools/call", through))).toBe(true);
    });

    test("has in a profile no more rights than its token has", async () => {
      const client = await connect("picked", era, TOKENS.guest.token);
      expect(withoutHub(await names(client, "tools/list", "tools"))).toEqual(["vault__peek"]);
      expect(isRefused(await call(client, "pub__hello"))).toBe(true);
      expect(isRefused(await call(client, "pub__time"))).toBe(true);
      const reader = await connect("reading", era, TOKENS.guest.token);
      expect(withoutHub(await names(reader, "tools/list", "tools"))).toEqual(["pub__time", "vault__peek"]);
    });
  });

  test("HTTP+SSE lists and calls only the tools of the profile", async () => {
    const base = target.url.replace(/\/mcp$/, "");
    const wire = new SseWire(`${base}/mcp/pub/sse`, { authorization: `Bearer ${TOKENS.owner.token}` });
    const client = await RawClient.open(wire, { era: "legacy" });
    clients.push(client);
    expect(withoutHub(await names(client, "tools/list", "tools"))).toEqual(["pub__hello", "pub__time"]);
    expect(isRefused(await call(client, "vault__peek"))).toBe(true);
  });

  test("REST and its description are below the address of the profile", async () => {
    const listed = await send({ method: "GET", path: "/mcp/pub/api/tools", ...ALL_MODE });
    expect(listed.status).toBe(200);
    expect(listed.body).toContain("pub__hello");
    expect(listed.body).not.toContain("vault");
    expect((await send({ path: "/mcp/pub/api/tools/pub__hello", body: "{}" })).body).toContain("hello");
    expect((await send({ path: "/mcp/pub/api/tools/vault__peek", body: "{}" })).status).toBe(403);
    const described = await send({ method: "GET", path: "/mcp/pub/openapi.json", ...ALL_MODE });
    const { servers, paths } = JSON.parse(described.body) as { servers: { url: string }[]; paths: JsonObject };
    expect(servers[0]!.url).toMatch(/\/mcp\/pub$/);
    expect(Object.keys(paths)).toContain("/api/tools/pub__hello");
    expect(described.body).not.toContain("vault");
    expect((await send({ method: "GET", path: "/mcp/pub/docs" })).body).toContain("/mcp/pub/api/tools/pub__hello");
  });

  test("JSON-RPC lists and calls within the profile", async () => {
    const path = "/mcp/pub/jsonrpc";
    const listed = await send({ path, body: rpc("tools/list") });
    expect(listed.body).toContain("pub__hello");
    expect(listed.body).not.toContain("vault");
    expect((await send({ path, body: rpc("pub__hello") })).body).toContain("hello");
    for (const body of [rpc("vault__peek"), rpc("tools/call", { name: "vault__peek", arguments: {} })])
      expect((await send({ path, body })).body).toMatch(/error|No right/);
    expect((await send({ path, body: rpc("mcp/resource/get", { uri: "file:///vault/gold" }) })).body).toMatch(/error/);
  });

  test("refuses the status of the hub in a profile that omits sources", async () => {
    expect((await send({ method: "GET", path: "/mcp/pub/status" })).status).toBe(403);
    expect((await send({ method: "GET", path: "/mcp/plain/status" })).status).toBe(200);
  });

  test("answers 404 for an unknown profile; a caller without a token gets 401 first", async () => {
    const missing = await send({ path: "/mcp/nothing", body: initialize() });
    expect([missing.status, missing.body]).toEqual([404, expect.stringContaining('no profile \\"nothing\\"')]);
    expect((await target.send({ path: "/mcp/nothing", headers: JSON_HEADERS, body: initialize() })).status).toBe(401);
    expect((await target.send({ path: "/mcp/pub", headers: JSON_HEADERS, body: initialize() })).status).toBe(401);
    for (const path of ["/mcp/pub/mcp/plain", "/mcp/pub/elsewhere", "/mcp/PUB", "/mcp/pub%2f", "/mcp/__proto__"])
      expect((await send({ path, body: initialize() })).status, path).toBe(404);
  });

  test("a session is valid only in the profile in which it was opened", async () => {
    const opened = await send({ path: "/mcp/plain", body: initialize() });
    const headers = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
    const listing = { headers, body: rpc("tools/list", {}, 2) };
    expect((await send({ path: "/mcp/plain", ...listing })).status).toBe(200);
    for (const path of ["/mcp", "/mcp/pub", "/mcp/reading"])
      expect((await send({ path, ...listing })).status, path).toBe(404);
    expect((await send({ path: "/mcp/pub", method: "DELETE", headers })).status).toBe(404);
    expect((await send({ path: "/mcp/plain", method: "DELETE", headers })).status).toBe(200);
  });

  test("profiles of one hub share its connections to servers", async () => {
    for (const profile of ["pub", "plain", "picked"]) await call(await connect(profile, "modern"), "pub__hello");
    expect(pub.received.filter(({ method }) => method === "initialize")).toHaveLength(1);
  });
});

test.each([
  [{ "a/b": {} }, /name of a profile is a part of its address/],
  [{ "": {} }, /name of a profile/],
  [{ docs: { roles: ["nobody"] } }, /names the role `nobody`, which is not in `\[roles\]`/],
  [{ docs: { tool_mode: "some" } }, /tool_mode/],
])("refuses the profiles %j", async (profiles, message) => {
  await expect(openTarget({ profiles: profiles as never })).rejects.toThrow(message);
});
