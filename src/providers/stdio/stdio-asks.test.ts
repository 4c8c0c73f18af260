import { expect, test } from "vitest";
import type { Ask } from "../../core/call.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { fail } from "../../core/outcome.ts";
import { fixture, run } from "../../../test/fixtures/upstreams/harness.ts";

const legacy = fixture("legacy");
const modern = fixture("modern");

test("an elicitation of a legacy server reaches the caller of the only call, and its answer comes back", async () => {
  await using server = run(legacy);
  const asked: Ask[] = [];
  const answer = await server.json(
    "ask",
    { method: "elicitation/create", params: { message: "name?", "x-own": 1, _meta: { progressToken: 5, own: 2 } } },
    { onAsk: async (ask) => (asked.push(ask), { action: "accept", content: { name: "Ada" } }) },
  );
  expect(answer).toEqual({ action: "accept", content: { name: "Ada" } });
  expect(asked).toEqual([{ method: "elicitation/create", params: { message: "name?", "x-own": 1, _meta: { own: 2 } } }]);
});

test("a caller that cannot be asked makes the server's request fail, and the call goes on", async () => {
  await using server = run(legacy);
  const refuse = (): Promise<JsonObject> => Promise.reject(new FailError(fail("unavailable", "The client cannot sample.")));
  const answer = await server.json("ask", { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } }, { onAsk: refuse });
  expect(answer).toMatchObject({ code: -32603, message: "The client cannot sample." });
  expect(await server.json("ask", { method: "no/such" })).toMatchObject({ code: -32601 });
});

test("ping is answered at any time", async () => {
  await using server = run(legacy);
  expect(await server.json("ask", { method: "ping" })).toEqual({});
});

test("roots come from the caller during its call and from configuration outside of one", async () => {
  await using server = run(legacy, ["asks-roots"], { options: { roots: ["/srv/data", "file:///srv/more"] } });
  await server.listing();
  const roots = [{ uri: "file:///home/ada" }];
  expect(await server.json("ask-roots", {}, { onAsk: async () => ({ roots }) })).toEqual({ roots });
  expect(await server.json("seen")).toMatchObject({ rootsSeen: { roots: [{ uri: "file:///srv/data" }, { uri: "file:///srv/more" }] } });
});

test("an ask that no call can own is refused and logged", async () => {
  await using server = run(legacy, ["asks-early"]);
  await server.listing();
  expect(await server.json("seen")).toMatchObject({ rootsSeen: { code: -32603 } });
  expect(server.lines.faults()).toContain("ask-without-call");
});

test("asks of calls of two clients never reach the wrong one: the first is refused, from then on they take turns", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const answering = (name: string) => ({
    client: { connection: name },
    onAsk: async ({ params }: Ask): Promise<JsonObject> => ({ action: "accept", content: { by: name, to: params["message"] } }),
  });
  const round = (): Promise<JsonObject[]> =>
    Promise.all(["ada", "bob"].map((name) => server.json("slow-ask", { message: `for ${name}` }, answering(name))));
  const first = await round();
  expect(first.filter((answer) => answer["content"] !== undefined && (answer["content"] as JsonObject)["to"] !== `for ${(answer["content"] as JsonObject)["by"] as string}`)).toEqual([]);
  expect(server.lines.faults()).toContain("ask-of-several");
  expect(await round()).toEqual([
    { action: "accept", content: { by: "ada", to: "for ada" } },
    { action: "accept", content: { by: "bob", to: "for bob" } },
  ]);
  expect(server.provider.status().info).toMatchObject({ takesTurns: true });
});

test("calls of one client do not wait for each other on a server that asks", async () => {
  await using server = run(legacy);
  const client = { connection: "ada" };
  const accept = async (): Promise<JsonObject> => ({ action: "accept" });
  await server.text("slow-ask", { message: "first" }, { client, onAsk: accept });
  const end = new AbortController();
  const hanging = server.call("hang", {}, { client, signal: end.signal });
  expect(await server.text("pid", {}, { client })).toMatch(/^\d+$/);
  end.abort();
  expect(await hanging).toMatchObject({ ok: false, kind: "cancelled" });
});

test("a caller that takes its time to answer does not run into the idle bound of its call", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const slow = (): Promise<JsonObject> => new Promise((resolve) => setTimeout(() => resolve({ action: "decline" }), 900));
  expect(await server.json("ask", { method: "elicitation/create" }, { onAsk: slow, idleMs: 400 })).toEqual({ action: "decline" });
});

test("isolation = session: each client gets a server of its own with its own capabilities, ended by release", async () => {
  await using server = run(legacy, [], { options: { isolation: "session" } });
  await server.listing();
  const ada = { client: { connection: "ada", capabilities: { sampling: {}, tasks: {} } } };
  const bob = { client: { connection: "bob", capabilities: {} } };
  const adaPid = await server.text("pid", {}, ada);
  expect(await server.text("pid", {}, bob)).not.toBe(adaPid);
  expect(await server.text("pid", {}, ada)).toBe(adaPid);
  const { log } = (await server.json("seen", {}, ada)) as { log: { initialize?: JsonObject }[] };
  expect(log.find(({ initialize }) => initialize)?.initialize).toMatchObject({ capabilities: { sampling: {} } });
  expect(JSON.stringify(log)).not.toContain("tasks");
  server.provider.release?.("ada");
  expect(await server.text("pid", {}, ada)).not.toBe(adaPid);
});

test("isolation = session is bounded: the idle one longest unused makes room, a busy one does not", async () => {
  await using server = run(legacy, [], { options: { isolation: "session", max_sessions: 1 } });
  const end = new AbortController();
  const reached = new Promise<void>((resolve) => {
    void server.call("linger", {}, { client: { connection: "ada" }, signal: end.signal, onNotice: () => resolve() });
  });
  await reached;
  expect(await server.call("pid", {}, { client: { connection: "bob" } })).toMatchObject({ ok: false, kind: "limited" });
  end.abort();
  expect(await server.text("pid", {}, { client: { connection: "bob" } })).toMatch(/^\d+$/);
});

test("a modern server is found by the probe, and each request carries the caller's capabilities and name", async () => {
  await using server = run(modern);
  const client = { name: "desk", version: "3", capabilities: { elicitation: {} } };
  const params = await server.json("echo", { a: 1 }, { client, meta: { own: 1 }, wants: { progress: true, logLevel: "debug" } });
  expect(params).toMatchObject({
    name: "echo",
    arguments: { a: 1 },
    _meta: {
      own: 1,
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      "io.modelcontextprotocol/clientInfo": { name: "desk", version: "3" },
      "io.modelcontextprotocol/logLevel": "debug",
    },
  });
  expect(server.provider.status().info).toMatchObject({ era: "modern", revision: "2026-07-28", server: { name: "modern-fixture" } });
});

test("a modern server that is slow to start is still found to be modern", async () => {
  await using server = run(modern, ["slow-start-ms=1800"]);
  await server.text("echo");
  expect(server.provider.status().info).toMatchObject({ era: "modern" });
});

test("input_required is asked for round by round when the caller cannot relay it", async () => {
  await using server = run(modern);
  const asked: string[] = [];
  const answer = await server.json(
    "ask",
    {},
    { onAsk: async ({ method, params }) => (asked.push(`${method} ${String(params["message"] ?? "")}`), method === "sampling/createMessage" ? { role: "assistant" } : { action: "accept" }) },
  );
  expect(asked.toSorted()).toEqual(["elicitation/create first", "elicitation/create second", "sampling/createMessage "]);
  expect(answer).toEqual({ answers: { c: { role: "assistant" } }, state: "state-2" });
});

test("input_required is handed over as it is to a caller that relays it, and its answers are handed back", async () => {
  await using server = run(modern);
  const outcome = await server.call("ask", {}, { relaysInput: true });
  expect(outcome).toMatchObject({ ok: true, result: { resultType: "input_required", requestState: "state-1", inputRequests: { a: { method: "elicitation/create" } } } });
  const params = { inputResponses: { c: { action: "accept" } }, requestState: "state-2" };
  expect(await server.json("ask", {}, { relaysInput: true, params })).toEqual({ answers: { c: { action: "accept" } }, state: "state-2" });
});

test("a server that is never content with input is given up, a caller that refuses ends the call", async () => {
  await using server = run(modern);
  expect(await server.call("insatiable", {}, { onAsk: async () => ({ roots: [] }) })).toMatchObject({ ok: false, kind: "malformed" });
  const refuse = (): Promise<JsonObject> => Promise.reject(new FailError(fail("denied", "No.")));
  expect(await server.call("ask", {}, { onAsk: refuse })).toMatchObject({ ok: false, kind: "denied" });
});

test("what was asked for the sake of a call ends with it", async () => {
  await using server = run(legacy);
  await server.listing();
  const controller = new AbortController();
  let wasAborted: Promise<boolean> | undefined;
  const onAsk = (_ask: Ask, signal?: AbortSignal): Promise<JsonObject> => {
    wasAborted = new Promise((resolve) => signal?.addEventListener("abort", () => resolve(true)));
    controller.abort();
    return new Promise(() => {});
  };
  const outcome = await server.call("ask", { method: "elicitation/create" }, { onAsk, signal: controller.signal });
  expect(outcome).toMatchObject({ ok: false, kind: "cancelled" });
  expect(await wasAborted).toBe(true);
});
