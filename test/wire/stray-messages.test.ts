// Messages of a server before its answer that are no answer: log lines in JSON, cancellations, byte order marks.
import { describe, expect, onTestFinished, test } from "vitest";
import { createHub } from "../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { fixture, run } from "../fixtures/upstreams/harness.ts";
import { ERAS, openOdd, WAYS } from "../fixtures/upstreams/odd.ts";

const CASES = WAYS.flatMap((way) => ERAS.map((era) => [way, era] as const));
const FINE = { ok: true, result: { content: [{ type: "text", text: "fine" }] } };

/** `"$ID"` is replaced by the id of the call. */
const LOG_LINES = [
  { id: "$ID", level: "info", msg: "called" },
  { id: "$TEXT", level: "info" },
  { id: "$ID", result: "ok" },
  { id: "$ID", result: { ms: 3 } },
  { id: "$ID", error: "none" },
  { id: "$ID", error: { code: 1, message: "none" } },
  { id: "$ID", method: "GET", path: "/" },
  { jsonrpc: null, id: "$ID" },
  '[{"id":"$ID","level":"info"}]',
];

describe.each(CASES)("a server on %s in the %s era", (way, era) => {
  test("can print JSON that is not JSON-RPC with the id of a call, and the call still gets its answer", async () => {
    await using server = await openOdd(way, { era });
    for (const line of LOG_LINES)
      expect(await server.call("fine", { odd: { before: [line, line] } }), JSON.stringify(line)).toMatchObject(FINE);
    expect(new Set(server.lines.faults())).toEqual(new Set(["not-json-rpc"]));
  });

  test("fails a call as malformed when its reply is of another version of JSON-RPC", async () => {
    await using server = await openOdd(way, { era });
    const wrong = { jsonrpc: "1.0", id: "$ID", result: {} };
    expect(await server.call("fine", { odd: { before: [wrong], answers: false } })).toMatchObject({
      ok: false,
      kind: "malformed",
    });
    expect(await server.call("fine")).toMatchObject(FINE);
  });
});

test("ignores half a log line with the id of a call on stdio, and accepts the answer", async () => {
  await using server = await openOdd("stdio", { era: "legacy" });
  for (const line of ['{"id":"$ID","level":"info","msg":"cal', '{"id":"$ID", level: info}', '{"id":"$ID","error":"no'])
    expect(await server.call("fine", { odd: { before: [line] } })).toMatchObject(FINE);
  const half = '{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"ty';
  expect(await server.call("fine", { odd: { before: [half], answers: false } })).toMatchObject({ kind: "malformed" });
});

test("fails a call as malformed if a server on HTTP answers only with JSON without `jsonrpc`", async () => {
  await using server = await openOdd("HTTP with JSON", { era: "legacy" });
  const before = [{ id: "$ID", result: { content: [] } }];
  expect(await server.call("fine", { odd: { before, answers: false } })).toMatchObject({
    ok: false,
    kind: "malformed",
  });
});

describe.each(CASES)("a server that cancels calls, on %s in the %s era", (way, era) => {
  const cancelled = (requestId: unknown, reason?: string) => ({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId, ...(reason !== undefined && { reason }) },
  });

  test("ends the call immediately, with the server's reason if it sends one", async () => {
    await using server = await openOdd(way, { era });
    const endings = [
      [cancelled("$ID", "shutting down"), "The server cancelled this request: shutting down"],
      [cancelled("$ID"), "The server cancelled this request."],
      [cancelled("$TEXT", "no"), "The server cancelled this request: no"],
    ] as const;
    for (const [notification, message] of endings) {
      const odd = { before: [notification], answers: false };
      expect(await server.call("fine", { odd })).toMatchObject({ ok: false, kind: "tool_error", message });
    }
    expect(await server.call("fine")).toMatchObject(FINE);
  });

  test("may still answer the cancelled call: the answer is ignored, and is no fault", async () => {
    await using server = await openOdd(way, { era });
    expect(await server.call("fine", { odd: { before: [cancelled("$ID")] } })).toMatchObject({ kind: "tool_error" });
    expect(await server.call("fine")).toMatchObject(FINE);
    expect(server.lines.faults()).toEqual([]);
  });

  test("ends no call if its notification names another id, or none", async () => {
    await using server = await openOdd(way, { era });
    for (const requestId of [123_456, "other", null, "-1", 1.5])
      expect(await server.call("fine", { odd: { before: [cancelled(requestId)] } })).toMatchObject(FINE);
  });
});

test("a server can cancel its own request with the id of a running call, which continues", async () => {
  await using server = await openOdd("stdio", { era: "legacy" });
  const before = [
    { jsonrpc: "2.0", id: "$ID", method: "elicitation/create", params: { message: "?", requestedSchema: {} } },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "$ID" } },
  ];
  const wish = { onAsk: () => new Promise<never>(() => {}) };
  expect(await server.call("fine", { odd: { before } }, wish)).toMatchObject(FINE);
});

describe.each(CASES)("a server that writes byte order marks, on %s in the %s era", (way, era) => {
  test.each(["first", "each"] as const)(
    "is listed and called with a byte order mark before its %s message",
    async (mark) => {
      await using server = await openOdd(way, { era, mark });
      expect((await server.provider.listing()).tools.map(({ name }) => name)).toContain("fine");
      expect(await server.call("fine")).toMatchObject(FINE);
      expect(await server.call("bad")).toMatchObject({ message: "the real reason" });
      expect(server.lines.faults()).toEqual([]);
    },
  );
});

test("accepts a server on stdio that first writes a byte order mark on a separate line", async () => {
  await using server = run(fixture("odd"), [JSON.stringify({ start: ["\uFEFF"] })]);
  expect(await server.call("fine")).toMatchObject(FINE);
  expect(server.lines.faults()).toEqual([]);
});

test("answers clients that write a byte order mark before a body on HTTP", async () => {
  const hub = await createHub({
    settings: { server: { port: 0 }, builtin: { execute_code: false } },
    variables: {},
    logger: SILENT_LOGGER,
    registerTools: (tools) => void tools.registerTool("fine", () => "fine", {}, "Answers."),
  });
  onTestFinished(() => hub.close());
  const { endpoint } = await hub.serve();
  const post = async (path: string, body: string): Promise<unknown> => {
    const accept = path === "/mcp" ? "application/json, text/event-stream" : "application/json";
    const headers = { "content-type": "application/json", accept };
    return (await fetch(new URL(path, endpoint), { method: "POST", headers, body: `\uFEFF${body}` })).json();
  };
  expect(await post("/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}')).toMatchObject({ result: {} });
  expect(await post("/jsonrpc", '{"jsonrpc":"2.0","id":1,"method":"fine"}')).toMatchObject({ result: "fine" });
  expect(await post("/api/tools/fine", "{}")).toBe("fine");
  expect(await post("/mcp", "\uFEFF{}")).toMatchObject({ error: { code: -32700 } });
});
