// Requests of a client with each member mutated in turn. A request that an official server answers directly gets the
// same answer through the hub. A refused request also gets one answer.
import { InitializeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isJsonObject, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { PipeWire } from "../fixtures/raw/pipe-wire.ts";
import { RawClient, type Answerer } from "../fixtures/raw/raw-client.ts";
import { serveHub } from "../fixtures/served-hub.ts";
import { QUESTIONS } from "../fixtures/upstreams/rich-offers.mjs";
import { fewMutationsOf, mutationsOf } from "../support/mutate-members.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/upstreams/${name}.mjs`, import.meta.url));

const META = { "example.test/key": { deep: [1] }, progressToken: "p" };
const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "tools/call": { name: "echo", arguments: { text: "a", list: [1, { b: null }], inner: { c: true } }, _meta: META },
  "prompts/get": { name: "echo", arguments: { who: "Ada" }, _meta: META },
  "resources/read": { uri: "official://one", _meta: META },
  "completion/complete": {
    ref: { type: "ref/prompt", name: "echo" },
    argument: { name: "who", value: "A" },
    context: { arguments: { how: "well" } },
    _meta: META,
  },
  "tools/list": { _meta: META },
  ping: { _meta: META },
};

/** Time limit on a direct connection, because an SDK drops some faulty requests silently. */
const DIRECT_MS = 1500;
/** Number of concurrent requests. */
const BATCH = 100;

/** Returns the reply without the members that name the answering server. */
function bare(reply: JsonObject): JsonObject {
  const result = objectMember(reply, "result");
  if (!result) return { error: objectMember(reply, "error")?.["code"] };
  const { _meta: _own, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  return rest;
}

test.each(["legacy", "modern"] as const)(
  "mutated requests of a %s client get the same answer through the hub as directly",
  async (era) => {
    const command = [process.execPath, fixture("official")];
    await using served = await serveHub({ mcp: { stdio_servers: { only: { command, namespace: "" } } } }, "HTTP");
    await using direct = await RawClient.open(new PipeWire({ command }), { era });
    const hub = await served.connect({ era });
    const methods = Object.entries(REQUESTS).filter(([method]) => era === "legacy" || method !== "ping");
    const mutations = methods.flatMap(([method, params]) =>
      fewMutationsOf(params).map(({ title, value }) => ({ title: `${method} ${title}`, method, params: value })),
    );
    const signal = (): AbortSignal => AbortSignal.timeout(DIRECT_MS);
    const both = ({ method, params }: { readonly method: string; readonly params: JsonObject }) =>
      Promise.all([
        direct.request(method, params, { signal: signal() }).catch(() => undefined),
        hub.request(method, params),
      ]);
    let accepted = 0;
    for (let from = 0; from < mutations.length; from += BATCH) {
      const batch = mutations.slice(from, from + BATCH);
      for (const [at, [fromServer, fromHub]] of (await Promise.all(batch.map(both))).entries()) {
        const { title, method } = batch[at]!;
        if (!isJsonObject(fromServer?.["result"])) {
          // An internal error comes from the server, never from the hub.
          if (bare(fromHub)["error"] === -32603) expect(bare(fromServer!), title).toEqual({ error: -32603 });
          continue;
        }
        accepted += 1;
        if (method === "tools/list") expect(fromHub, title).toHaveProperty("result.tools");
        else expect(bare(fromHub), title).toEqual(bare(fromServer));
      }
    }
    expect(accepted).toBeGreaterThan(mutations.length / 4);
  },
);

const ANSWERS: Readonly<Record<string, JsonObject>> = {
  elicit: {
    action: "accept",
    content: { name: "Ada", age: 36, sure: true, tags: ["a"] },
    _meta: { "example.test/a": 1 },
  },
  sample: { role: "assistant", model: "m", stopReason: "endTurn", content: { type: "text", text: "It." }, _meta: {} },
  roots: { roots: [{ uri: "file:///home", name: "home", _meta: { a: 1 } }], _meta: { "example.test/a": 1 } },
};

test("mutated answers of a client reach the server that sent the request, as on a direct connection", async () => {
  const tools = Object.keys(ANSWERS).map((name) => ({ name, inputSchema: { type: "object" } }));
  const command = [process.execPath, fixture("quirks"), JSON.stringify({ tools, asks: QUESTIONS })];
  await using served = await serveHub({ mcp: { stdio_servers: { only: { command, namespace: "" } } } }, "HTTP");
  let answer: JsonObject = {};
  const answerer: Answerer = () => answer;
  await using direct = await RawClient.open(new PipeWire({ command }), { era: "legacy", answer: answerer });
  const hub = await served.connect({ era: "legacy", answer: answerer });
  for (const [name, good] of Object.entries(ANSWERS)) {
    for (const { title, value } of fewMutationsOf(good)) {
      answer = value;
      const expected = await direct.tool(name);
      expect((await hub.tool(name))["content"], `${name}: ${title}`).toEqual(expected["content"]);
    }
  }
});

const OPENING: JsonObject = {
  protocolVersion: "2025-11-25",
  capabilities: {
    roots: { listChanged: true },
    sampling: { tools: {}, context: {} },
    elicitation: { form: {}, url: {} },
    experimental: { "example.test/trial": {} },
  },
  clientInfo: {
    name: "raw",
    title: "Raw",
    version: "1",
    websiteUrl: "https://example.test",
    icons: [{ src: "data:," }],
  },
  _meta: { "example.test/key": 1 },
};

test("serves a client with a mutated opening in each case in which an official server does", async () => {
  const command = [process.execPath, fixture("official")];
  await using served = await serveHub({ mcp: { stdio_servers: { only: { command, namespace: "" } } } }, "HTTP");
  const post = (id: number, params: unknown): Promise<Response> =>
    fetch(served.url!, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params }),
    });
  for (const [id, { title, value }] of mutationsOf(OPENING).entries()) {
    const isAccepted = InitializeRequestSchema.safeParse({ method: "initialize", params: value }).success;
    const answer = await post(id, value);
    const text = await answer.text();
    if (isAccepted) expect([answer.status, text], title).toEqual([200, expect.stringContaining('"protocolVersion"')]);
    else expect(answer.status, title).toBeLessThan(500);
  }
});
