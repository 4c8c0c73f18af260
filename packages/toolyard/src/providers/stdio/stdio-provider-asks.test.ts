import { expect, test } from "vitest";
import type { ServerRequest } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { fixture, run } from "../../../../../test/fixtures/upstreams/harness.ts";

const legacy = fixture("legacy");
const modern = fixture("modern");

test("sends an elicitation of a legacy server to the caller of the only call, and returns its answer", async () => {
  await using server = run(legacy);
  const asked: ServerRequest[] = [];
  const answer = await server.json(
    "ask",
    { method: "elicitation/create", params: { message: "name?", "x-own": 1, _meta: { progressToken: 5, own: 2 } } },
    { onAsk: async (ask) => (asked.push(ask), { action: "accept", content: { name: "Ada" } }) },
  );
  expect(answer).toEqual({ action: "accept", content: { name: "Ada" } });
  expect(asked).toEqual([
    { method: "elicitation/create", params: { message: "name?", "x-own": 1, _meta: { own: 2 } } },
  ]);
});

test("fails the server's request if its caller cannot receive it, and continues the call", async () => {
  await using server = run(legacy);
  const refuse = (): Promise<JsonObject> =>
    Promise.reject(new FailError(fail("unavailable", "The client cannot sample.")));
  const answer = await server.json(
    "ask",
    { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
    { onAsk: refuse },
  );
  expect(answer).toMatchObject({ code: -32603, message: "The client cannot sample." });
  expect(await server.json("ask", { method: "no/such" })).toMatchObject({ code: -32601 });
});

test("answers ping at any time", async () => {
  await using server = run(legacy);
  expect(await server.json("ask", { method: "ping" })).toEqual({});
});

test("returns roots of the caller during its call, and configured roots outside of a call", async () => {
  await using server = run(legacy, ["asks-roots"], { options: { roots: ["/srv/data", "file:///srv/more"] } });
  await server.listing();
  const roots = [{ uri: "file:///home/ada" }];
  expect(await server.json("ask-roots", {}, { onAsk: async () => ({ roots }) })).toEqual({ roots });
  expect(await server.json("seen")).toMatchObject({
    rootsSeen: { roots: [{ uri: "file:///srv/data" }, { uri: "file:///srv/more" }] },
  });
});

test("refuses and logs a server request if no running call can have caused it", async () => {
  await using server = run(legacy, ["asks-early"]);
  await server.listing();
  expect(await server.json("seen")).toMatchObject({ rootsSeen: { code: -32603 } });
  expect(server.lines.faults()).toContain("ask-without-call");
});

test("sends server requests of two clients' concurrent calls to their callers; then clients take turns", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const answering = (name: string) => ({
    client: { connection: name },
    onAsk: async ({ params }: ServerRequest): Promise<JsonObject> => ({
      action: "accept",
      content: { by: name, to: params["message"] },
    }),
  });
  const round = (): Promise<JsonObject[]> =>
    Promise.all(["ada", "bob"].map((name) => server.json("slow-ask", { message: `for ${name}` }, answering(name))));
  const right = ["ada", "bob"].map((name) => ({ action: "accept", content: { by: name, to: `for ${name}` } }));
  expect(await round()).toEqual(right);
  expect(server.provider.status().info).toMatchObject({ takesTurns: true });
  expect(await round()).toEqual(right);
});

test("refuses a server request that may belong to waiting calls of two principals", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const accept = async (): Promise<JsonObject> => ({ action: "accept" });
  const asking = (principal: string) =>
    server.json("slow-ask", { message: "whose?" }, { principal, client: { connection: principal }, onAsk: accept });
  expect(await Promise.all(["ada", "bob"].map(asking))).toEqual([
    expect.objectContaining({ code: -32603 }),
    expect.objectContaining({ code: -32603 }),
  ]);
  expect(server.lines.faults()).toContain("ask-of-several");
  expect(await asking("ada")).toEqual({ action: "accept" });
});

test("runs calls of one client concurrently on a server that sends requests", async () => {
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

test("does not count a slow answer of the caller towards the idle limit of its call", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const slow = (): Promise<JsonObject> =>
    new Promise((resolve) => setTimeout(() => resolve({ action: "decline" }), 900));
  expect(await server.json("ask", { method: "elicitation/create" }, { onAsk: slow, idleMs: 400 })).toEqual({
    action: "decline",
  });
});

test("isolation = session: gives each client its own server with its capabilities, until its release", async () => {
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

test("isolation = session: at the limit, evicts the least recently used idle server, never a busy one", async () => {
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

test("detects a modern server with the probe, and sends the caller's capabilities with each request", async () => {
  await using server = run(modern);
  const client = { name: "desk", version: "3", capabilities: { elicitation: {} } };
  const params = await server.json(
    "echo",
    { a: 1 },
    { client, meta: { own: 1 }, wants: { progress: true, logLevel: "debug" } },
  );
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
  expect(server.provider.status().info).toMatchObject({
    era: "modern",
    revision: "2026-07-28",
    server: { name: "modern-fixture" },
  });
});

test("detects a modern server that is slow to start", async () => {
  await using server = run(modern, ["slow-start-ms=1800"]);
  await server.text("echo");
  expect(server.provider.status().info).toMatchObject({ era: "modern" });
});

test("sends the requests of input_required in rounds if the caller cannot relay it", async () => {
  await using server = run(modern);
  const asked: string[] = [];
  const answer = await server.json(
    "ask",
    {},
    {
      onAsk: async ({ method, params }) => (
        asked.push(`${method} ${String(params["message"] ?? "")}`),
        method === "sampling/createMessage" ? { role: "assistant" } : { action: "accept" }
      ),
    },
  );
  expect(asked.toSorted()).toEqual([
    "elicitation/create first",
    "elicitation/create second",
    "sampling/createMessage ",
  ]);
  expect(answer).toEqual({ answers: { c: { role: "assistant" } }, state: "state-2" });
});

test("passes input_required unchanged to a caller that relays it, and sends its answers back", async () => {
  await using server = run(modern);
  const outcome = await server.call("ask", {}, { relaysInput: true });
  expect(outcome).toMatchObject({
    ok: true,
    result: {
      resultType: "input_required",
      requestState: "state-1",
      inputRequests: { a: { method: "elicitation/create" } },
    },
  });
  const params = { inputResponses: { c: { action: "accept" } }, requestState: "state-2" };
  expect(await server.json("ask", {}, { relaysInput: true, params })).toEqual({
    answers: { c: { action: "accept" } },
    state: "state-2",
  });
});

test("fails if a server repeats input_required too often, and ends the call if the caller refuses", async () => {
  await using server = run(modern);
  expect(await server.call("insatiable", {}, { onAsk: async () => ({ roots: [] }) })).toMatchObject({
    ok: false,
    kind: "malformed",
  });
  const refuse = (): Promise<JsonObject> => Promise.reject(new FailError(fail("denied", "No.")));
  expect(await server.call("ask", {}, { onAsk: refuse })).toMatchObject({ ok: false, kind: "denied" });
});

test("ends a server request together with the call that it was sent for", async () => {
  await using server = run(legacy);
  await server.listing();
  const controller = new AbortController();
  let wasAborted: Promise<boolean> | undefined;
  const onAsk = (_ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> => {
    wasAborted = new Promise((resolve) => signal?.addEventListener("abort", () => resolve(true)));
    controller.abort();
    return new Promise(() => {});
  };
  const outcome = await server.call("ask", { method: "elicitation/create" }, { onAsk, signal: controller.signal });
  expect(outcome).toMatchObject({ ok: false, kind: "cancelled" });
  expect(await wasAborted).toBe(true);
});

const saying = (name: string) => ({
  client: { connection: name },
  onAsk: async (): Promise<JsonObject> => ({ action: "accept", content: { by: name } }),
});

/** Creates a user who answers when the test says so. */
function person(): {
  onAsk: (ask: ServerRequest, signal?: AbortSignal) => Promise<JsonObject>;
  asked: Promise<void>;
  answer: () => void;
  signal: () => AbortSignal | undefined;
} {
  let wasAsked = (): void => {};
  let answer = (_result: JsonObject): void => {};
  let given: AbortSignal | undefined;
  const asked = new Promise<void>((resolve) => (wasAsked = resolve));
  const onAsk = (_ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject> => {
    given = signal;
    wasAsked();
    return new Promise((resolve) => (answer = resolve));
  };
  return { onAsk, asked, answer: () => answer({ action: "accept" }), signal: () => given };
}

test("keeps a server request while a call is running that may have caused it", async () => {
  await using server = run(legacy);
  await server.text("echo");
  const client = { connection: "ada" };
  const slow = person();
  const asking = server.json("ask", { method: "elicitation/create" }, { client, onAsk: slow.onAsk });
  const other = server.call("rest", { ms: 300 }, { client, onAsk: slow.onAsk });
  await slow.asked;
  expect(await other).toMatchObject({ ok: true });
  expect(slow.signal()?.aborted).toBe(false);
  slow.answer();
  expect(await asking).toEqual({ action: "accept" });
});

test("lets calls of the same principal run while a user is asked", async () => {
  await using server = run(legacy);
  await server.json("slow-ask", { message: "" }, saying("ada"));
  const slow = person();
  const asking = server.json(
    "ask",
    { method: "elicitation/create" },
    { client: { connection: "ada" }, onAsk: slow.onAsk },
  );
  await slow.asked;
  expect(await server.json("slow-ask", { message: "" }, saying("bob"))).toEqual({
    action: "accept",
    content: { by: "bob" },
  });
  slow.answer();
  expect(await asking).toEqual({ action: "accept" });
});

test("isolation = auto: gives another principal its own process of a server that sends requests", async () => {
  await using server = run(legacy);
  const pid = await server.text("pid", {}, { principal: "ada" });
  expect(await server.text("pid", {}, { principal: "bob" })).toBe(pid);
  await server.json("slow-ask", { message: "" }, { ...saying("a"), principal: "ada" });
  expect(await server.text("pid", {}, { principal: "ada" })).toBe(pid);
  const own = await server.text("pid", {}, { principal: "bob" });
  expect(own).not.toBe(pid);
  expect(server.provider.status().info).toMatchObject({
    further: [{ for: "principal bob", state: "ready", pid: Number(own) }],
  });
});

test("isolation = auto: respects max_sessions; isolation = shared: always keeps one process", async () => {
  await using bounded = run(legacy, [], { options: { max_sessions: 1 } });
  await bounded.json("slow-ask", { message: "" }, { ...saying("a"), principal: "ada" });
  const end = new AbortController();
  const reached = new Promise<void>(
    (resolve) => void bounded.call("linger", {}, { principal: "bob", signal: end.signal, onNotice: () => resolve() }),
  );
  await reached;
  expect(await bounded.call("pid", {}, { principal: "cleo" })).toMatchObject({ ok: false, kind: "limited" });
  end.abort();
  await using shared = run(legacy, [], { options: { isolation: "shared" } });
  await shared.json("slow-ask", { message: "" }, { ...saying("a"), principal: "ada" });
  expect(await shared.text("pid", {}, { principal: "bob" })).toBe(await shared.text("pid", {}, { principal: "ada" }));
});

test("requests roots from the one running client, even while another one waits for a user", async () => {
  await using server = run(legacy);
  await server.json("slow-ask", { message: "" }, saying("ada"));
  const slow = person();
  const asking = server.json(
    "ask",
    { method: "elicitation/create" },
    { client: { connection: "ada" }, onAsk: slow.onAsk },
  );
  await slow.asked;
  const roots = [{ uri: "file:///home/bob" }];
  expect(await server.json("ask-roots", {}, { client: { connection: "bob" }, onAsk: async () => ({ roots }) })).toEqual(
    { roots },
  );
  slow.answer();
  expect(await asking).toEqual({ action: "accept" });
});

test("answers the first of two server requests with one id, and refuses the second", async () => {
  await using server = run(legacy);
  const asked: unknown[] = [];
  // The first request stays open until the second one was refused.
  let tell = (): void => {};
  const refused = new Promise<void>((resolve) => (tell = resolve));
  const onAsk = async ({ params }: ServerRequest): Promise<JsonObject> => {
    asked.push(params["message"]);
    await refused;
    return { action: "accept" };
  };
  const replies = (await server.json("ask-twice", {}, { onAsk, onNotice: () => tell() })) as unknown as JsonObject[];
  expect(replies.toSorted((one) => ("code" in one ? 1 : -1))).toEqual([
    { action: "accept" },
    expect.objectContaining({ code: -32600 }),
  ]);
  expect(asked).toEqual(["first"]);
});
