import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  MCPError,
  MCPHTTPServer,
  closeMcpInstance,
  startHttpServer,
  start_http_server,
} from "../../../packages/toolyard/src/core-server.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { createGate } from "../../fixtures/hub-stand-in.ts";
import { Core, request, SUM, type HttpClient, type LineClient, type Reply } from "./core.ts";

const JSON_TYPE = { "content-type": "application/json" };

let core: Core;

beforeEach(() => {
  core = new Core();
  core.mcp.registerTool("math.add", ({ a, b }: { a: number; b: number }) => ({ sum: a + b }), SUM, "Adds.");
  core.mcp.registerTool("say.nothing", () => null);
  core.mcp.registerTool("bad.run", () => {
    throw new Error("boom");
  });
  core.mcp.registerResource("doc://{id}", (_uri, { id }) => {
    if (id === "bad") throw new Error("disk gone");
    return { id, words: ["x"] };
  });
});
afterEach(async () => {
  await closeMcpInstance();
  await core[Symbol.asyncDispose]();
});

/** Registers a tool that waits. `begun` resolves when it starts; `open()` ends it. */
function slowTool(name = "slow.run"): { begun: Promise<void>; open(): void; aborted: Promise<void> } {
  const begun = createGate();
  const end = createGate();
  const aborted = createGate();
  core.mcp.registerTool(name, async (_args, { signal }) => {
    signal.addEventListener("abort", () => aborted.open());
    begun.open();
    await end.opened;
    return "done";
  });
  return { begun: begun.opened, open: () => end.open(), aborted: aborted.opened };
}

const INITIALIZE = request(
  "initialize",
  { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  "init",
);

describe("stdio", () => {
  let client: LineClient;
  beforeEach(() => {
    client = core.stdio();
  });

  test("G20: lines are trimmed, blank ones ignored, and each response is one line", async () => {
    client.send("", "   ", `  ${JSON.stringify(request("math.add", { a: 1, b: 2 }))}\t`);
    expect(await client.read(1)).toEqual([{ jsonrpc: "2.0", id: 1, result: { sum: 3 } }]);
    client.send(request("say.nothing", {}, 2));
    await client.read(2);
    expect(client.lines).toHaveLength(2);
  });

  test("G20: a line with a raw line break is two invalid lines", async () => {
    client.send('{"jsonrpc": "2.0",\n"id": 1, "method": "say.nothing"}');
    expect(await client.read(2)).toEqual([
      expect.objectContaining({ id: null }),
      expect.objectContaining({ id: null }),
    ]);
  });

  test("G21: reads further lines while a tool runs", async () => {
    const slow = slowTool();
    client.send(request("slow.run", {}, "slow"));
    await slow.begun;
    expect(await client.ask(request("math.add", { a: 1, b: 1 }, "quick"))).toMatchObject({
      id: "quick",
      result: { sum: 2 },
    });
    slow.open();
    expect((await client.read(2))[1]).toEqual({ jsonrpc: "2.0", id: "slow", result: "done" });
  });

  test("G21: an unreadable line does not delay running calls", async () => {
    const slow = slowTool();
    client.send(request("slow.run", {}, "slow"), "{", request("say.nothing", {}, "next"));
    await client.read(2);
    slow.open();
    expect((await client.read(3)).map((message) => (message as Reply).id)).toEqual(
      expect.arrayContaining([null, "next", "slow"]),
    );
  });

  test("G22: invalid JSON is the literal parse error, and the server continues", async () => {
    expect(await client.ask("not json")).toEqual({
      jsonrpc: "2.0",
      error: { code: -32700, message: "Parse error" },
      id: null,
    });
    expect(await client.ask(request("math.add", { a: 1, b: 1 }))).toMatchObject({ result: { sum: 2 } });
  });

  test("G22: valid JSON that is not a request does not cause a parse error", async () => {
    expect(await client.ask("17")).toMatchObject({ id: null, error: { code: -32600 } });
  });

  test("G24: a missing jsonrpc or method is an invalid request object", async () => {
    for (const broken of [
      { id: 7, method: "say.nothing" },
      { jsonrpc: "2.0", id: 7 },
    ]) {
      expect(await client.ask(broken)).toEqual({
        jsonrpc: "2.0",
        id: 7,
        error: { code: -32600, message: "Invalid JSON-RPC request object" },
      });
    }
  });

  test("G24: another version is an invalid request", async () => {
    expect(await client.ask({ jsonrpc: "1.0", id: 7, method: "say.nothing" })).toEqual({
      jsonrpc: "2.0",
      id: 7,
      error: { code: -32600, message: "Invalid jsonrpc version" },
    });
  });

  test("G25: params default to an empty object", async () => {
    expect(await client.ask(request("say.nothing"))).toMatchObject({ result: null });
    expect(await client.ask(request("math.add"))).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("Missing required parameter: a") },
    });
  });

  test("G25: refuses params of another type", async () => {
    expect(await client.ask(request("say.nothing", [1, 2]))).toMatchObject({ error: { code: -32600 } });
  });

  test("G26: accepts the six methods, all names with resource/, and every tool's name", async () => {
    const capabilities = await core.mcp.getCapabilities();
    for (const method of ["mcp/discover", "get_mcp_server_capabilities", "mcp.capabilities"])
      expect(await client.ask(request(method))).toMatchObject({ result: capabilities });
    for (const method of ["resource/get", "resource/read", "mcp.resource.get"]) {
      expect(await client.ask(request(method, { uri: "doc://7" }))).toEqual({
        jsonrpc: "2.0",
        id: 1,
        result: { id: "7", words: ["x"] },
      });
    }
    expect(await client.ask(request("mcp.tool.execute", { name: "math.add", params: { a: 2, b: 3 } }))).toMatchObject({
      result: { sum: 5 },
    });
    expect(await client.ask(request("math.add", { a: 2, b: 3 }))).toMatchObject({ result: { sum: 5 } });
  });

  test("G26: a resource request without a uri gets a clear error", async () => {
    expect(await client.ask(request("resource/get", {}))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32602, message: "Missing uri for resource request" },
    });
    expect(await client.ask(request("mcp.tool.execute", { params: {} }))).toMatchObject({ error: { code: -32602 } });
  });

  test("G27: an unknown tool or resource is -32601, wrong parameters -32602", async () => {
    expect(await client.ask(request("no_tool"))).toMatchObject({ error: { code: -32601 } });
    expect(await client.ask(request("resource/get", { uri: "else://1" }))).toMatchObject({
      error: { code: -32601, message: "Resource 'else://1' not found." },
    });
    expect(await client.ask(request("math.add", { a: "x", b: 1 }))).toMatchObject({
      error: { code: -32602, data: [expect.objectContaining({ path: "a" })] },
    });
  });

  test("G27: a failing tool has neither -32601 nor -32602", async () => {
    expect(await client.ask(request("bad.run"))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32000, message: "Error executing tool 'bad.run': boom", data: "boom" },
    });
  });

  test("G28: stop answers running calls within a second, and ends", async () => {
    const slow = slowTool();
    client.send(request("slow.run", {}, "slow"));
    await slow.begun;
    const begunAt = performance.now();
    await client.stop();
    await client.over;
    expect(performance.now() - begunAt).toBeLessThan(10_000);
    expect(client.messages).toMatchObject([{ id: "slow", error: { code: -32603 } }]);
    await slow.aborted;
  });

  test("G28: a client that disconnects ends the server after all answers", async () => {
    client.send(request("math.add", { a: 1, b: 1 }));
    client.input.end();
    await client.over;
    expect(client.messages).toMatchObject([{ result: { sum: 2 } }]);
  });

  test("C1: resolves a name as MCP method, then as one of six names, then as tool, else answers -32601", async () => {
    expect(await client.ask(request("ping"))).toMatchObject({ result: {} });
    expect(await client.ask(request("math.add", { a: 1, b: 1 }))).toMatchObject({ result: { sum: 2 } });
    expect(await client.ask(INITIALIZE)).toMatchObject({ result: { serverInfo: { name: "toolyard" } } });
    const called = await client.ask(request("tools/call", { name: "math.add", arguments: { a: 1, b: 1 } }));
    expect(called.result).toMatchObject({
      content: [{ type: "text", text: '{"sum":2}' }],
      structuredContent: { sum: 2 },
    });
    expect(await client.ask(request("math.add", { a: 1, b: 1 }))).toMatchObject({ result: { sum: 2 } });
    expect(await client.ask(request("no_tool"))).toMatchObject({ error: { code: -32601 } });
  });

  test("C1: an MCP method that the hub does not offer is not a tool", async () => {
    expect(await client.ask(request("tasks/get", {}))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32601, message: "Method not found: tasks/get" },
    });
  });

  test("C16: answers a thousand concurrent calls, each on its own line", async () => {
    client.send(...Array.from({ length: 900 }, (_, id) => request("math.add", { a: id, b: 1 }, id)));
    const replies = (await client.read(900)) as Reply[];
    expect(new Set(replies.map(({ id }) => id)).size).toBe(900);
    for (const { id, result } of replies) expect(result).toEqual({ sum: Number(id) + 1 });
  });

  test("C16: refuses a request above the limit instead of queueing it", async () => {
    await client.stop();
    core.with({ settings: { server: { sessions: { max_in_flight: 1 } } } });
    const slow = slowTool();
    client = core.stdio();
    client.send(request("slow.run", {}, "slow"));
    await slow.begun;
    expect(await client.ask(request("slow.run", {}, "second"))).toMatchObject({
      id: "second",
      error: { code: -32603, message: expect.stringContaining("Too many concurrent requests") },
    });
    slow.open();
  });

  test("C17: runs a call without an id, without an answer", async () => {
    let seen: unknown;
    const ran = createGate();
    core.mcp.registerTool("note.it", (args) => {
      seen = args;
      ran.open();
      return "never told";
    });
    client.send({ jsonrpc: "2.0", method: "note.it", params: { a: 1 } });
    await ran.opened;
    expect(seen).toEqual({ a: 1 });
    expect(await client.ask(request("say.nothing"))).toMatchObject({ id: 1 });
    expect(client.lines).toHaveLength(1);
  });

  test("C17: answers batches with one array, an empty one with an error, notifications not at all", async () => {
    client.send([]);
    client.send([
      { jsonrpc: "2.0", method: "say.nothing" },
      { jsonrpc: "2.0", method: "no_tool" },
    ]);
    client.send([
      request("math.add", { a: 1, b: 1 }, 1),
      { jsonrpc: "2.0", method: "say.nothing" },
      request("no_tool", {}, 2),
    ]);
    const [empty, batch] = await client.read(2);
    expect(empty).toMatchObject({ id: null, error: { code: -32600 } });
    expect(batch).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 1, result: { sum: 2 } }),
        expect.objectContaining({ id: 2 }),
      ]),
    );
    expect(batch).toHaveLength(2);
  });

  test("C17: a cancellation aborts the call without an answer; with a progress token, progress is sent", async () => {
    const slow = slowTool();
    client.send(request("slow.run", {}, "slow"));
    await slow.begun;
    client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } });
    await slow.aborted;
    core.mcp.registerTool("tell.progress", (args, { progress }) => {
      progress(1, 2);
      return args;
    });
    client.send(request("tell.progress", { a: 1, _meta: { progressToken: "t" } }, "p"));
    expect(await client.read(2)).toEqual([
      { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1, total: 2, progressToken: "t" } },
      { jsonrpc: "2.0", id: "p", result: { a: 1 } },
    ]);
  });

  test("C46: ids keep type and value: 0, texts, fractions, null", async () => {
    for (const id of [0, "request-123", "", 1.5, null])
      expect(await client.ask(request("say.nothing", {}, id))).toEqual({ jsonrpc: "2.0", id, result: null });
  });

  test("C46: refuses an id in use, in either dialect", async () => {
    const slow = slowTool();
    client.send(request("slow.run", {}, 5));
    await slow.begun;
    expect(await client.ask(request("ping", {}, 5))).toMatchObject({ id: 5, error: { code: -32600 } });
    expect(await client.ask(request("say.nothing", {}, { a: 1 }))).toMatchObject({ id: null, error: { code: -32600 } });
    slow.open();
  });

  test("C44: output of tools does not reach the protocol", async () => {
    core.mcp.registerTool("loud.run", () => {
      console.error("not protocol");
      return "quiet";
    });
    expect(await client.ask(request("loud.run"))).toMatchObject({ result: "quiet" });
    expect(client.lines.every((line) => (JSON.parse(line) as JsonObject)["jsonrpc"] === "2.0")).toBe(true);
  });

  test("C44: a result with line breaks is still one line", async () => {
    core.mcp.registerTool("two.lines", () => "a\nb\u2028c");
    expect(await client.ask(request("two.lines"))).toMatchObject({ result: "a\nb\u2028c" });
    expect(client.lines).toHaveLength(1);
  });
});

describe("errors and responses", () => {
  let client: HttpClient;
  beforeEach(async () => {
    client = await core.http();
  });

  test("G60: errors have the codes of the table", async () => {
    const codeOf = async (body: unknown) => (await client.post(body)).reply.error?.code;
    expect(await codeOf("{")).toBe(-32700);
    expect(await codeOf({ id: 1 })).toBe(-32600);
    expect(await codeOf(request("no_tool"))).toBe(-32601);
    expect(await codeOf(request("math.add", {}))).toBe(-32602);
    expect(await codeOf(request("bad.run"))).toBe(-32000);
  });

  test("G60: passes on a tool's own code only if servers may choose codes", async () => {
    core.mcp.registerTool("own.code", ({ code }: { code: number }) => {
      throw new MCPError("mine", code, { a: 1 });
    });
    expect((await client.post(request("own.code", { code: -32042 }))).reply.error).toEqual({
      code: -32042,
      message: "mine",
      data: { a: 1 },
    });
    expect((await client.post(request("own.code", { code: -32700 }))).reply.error?.code).toBe(-32000);
  });

  test("G61: a response has jsonrpc, id, and result or error", async () => {
    expect((await client.post(request("math.add", { a: 1, b: 2 }, "request-123"))).reply).toEqual({
      jsonrpc: "2.0",
      id: "request-123",
      result: { sum: 3 },
    });
    expect(Object.keys((await client.post(request("bad.run"))).reply).toSorted()).toEqual(["error", "id", "jsonrpc"]);
  });

  test("G61: the id is null if it is unreadable", async () => {
    expect((await client.post("{")).reply.id).toBe(null);
    expect((await client.post({ jsonrpc: "2.0", id: [1], method: "x" })).reply.id).toBe(null);
  });

  test("G62: an unknown method has the specified message", async () => {
    expect((await client.post(request("non_existent_tool", {}, "request-456"))).reply).toEqual({
      jsonrpc: "2.0",
      error: { code: -32601, message: "Method not found", data: "Tool 'non_existent_tool' not found." },
      id: "request-456",
    });
  });

  test("G62: an error without data has no member data", async () => {
    expect((await client.post(request("resource/get", {}))).reply.error).toEqual({
      code: -32602,
      message: "Missing uri for resource request",
    });
  });

  test("G67: a success without a result is null", async () => {
    expect((await client.post(request("say.nothing"))).reply).toEqual({ jsonrpc: "2.0", id: 1, result: null });
  });

  test("G67: a missing resource is an error, and not null", async () => {
    core.mcp.registerResource("gone://it", () => null);
    expect((await client.post(request("resource/get", { uri: "gone://it" }))).reply.error?.code).toBe(-32601);
  });

  test("G66: logs attempts, successes and failures, faults with their traceback, and never arguments", async () => {
    await client.post(request("math.add", { a: 902_104_177, b: 1 }));
    await client.post(request("bad.run"));
    await client.post(request("no_tool"));
    expect(core.log.all).toEqual(
      expect.arrayContaining([
        "debug Attempting to execute tool: math.add",
        "debug Tool math.add executed successfully.",
        "error Error executing tool 'bad.run': boom",
      ]),
    );
    expect(core.log.whole).toMatch(/error Error executing tool 'bad\.run': boom .*"stack"/u);
    // A number that no call id contains by chance.
    expect(core.log.whole).not.toContain("902104177");
  });

  test("G66: the log level can be configured", async () => {
    const lines: string[] = [];
    await using quiet = new Core();
    quiet.with({
      logger: {
        ...core.log,
        debug: () => {},
        info: () => {},
        warning: () => {},
        error: (message: string) => void lines.push(message),
        with: () => quiet.log,
      },
    });
    quiet.mcp.registerTool("fine.run", () => 1);
    await quiet.mcp.executeTool("fine.run");
    expect(lines).toEqual([]);
  });
});

describe("HTTP", () => {
  let client: HttpClient;
  beforeEach(async () => {
    client = await core.http();
  });

  test("G30: POST to / and /jsonrpc accepts one request", async () => {
    for (const path of ["/", "/jsonrpc"])
      expect(await client.post(request("math.add", { a: 1, b: 1 }), path)).toMatchObject({
        status: 200,
        reply: { result: { sum: 2 } },
      });
  });

  test("G30: any other path is 404 Not Found as plain text", async () => {
    expect(await client.post(request("math.add", { a: 1, b: 1 }), "/other")).toMatchObject({
      status: 404,
      type: expect.stringContaining("text/plain"),
      text: "Not Found",
    });
  });

  test("G31: an empty body and invalid JSON have the specified messages", async () => {
    expect((await client.post("")).reply).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "Invalid Request: No data received" },
    });
    expect((await client.post("{")).reply).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32700, message: "Parse error" },
    });
  });

  test("G31: refuses a body with endless nesting or without UTF-8", async () => {
    const response = await fetch(`${client.url}/`, {
      method: "POST",
      headers: JSON_TYPE,
      body: new Uint8Array([0x22, 0xff, 0x22]),
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32700 } }]);
    expect(await client.post("[".repeat(5000))).toMatchObject({
      status: 400,
      reply: { id: null, error: { code: -32600 } },
    });
  });

  test("G32: serves resources by POST and by GET", async () => {
    expect((await client.post(request("resource/get", { uri: "doc://7" }))).reply.result).toEqual({
      id: "7",
      words: ["x"],
    });
    for (const path of ["/", "/jsonrpc"]) {
      const response = await fetch(`${client.url}${path}?uri=${encodeURIComponent("doc://7")}`);
      expect([response.status, await response.json()]).toEqual([
        200,
        { jsonrpc: "2.0", id: null, result: { id: "7", words: ["x"] } },
      ]);
    }
  });

  test("G32: a GET without a URI, or for a missing one, gets a clear error", async () => {
    const nothing = await fetch(`${client.url}/jsonrpc`);
    expect([nothing.status, await nothing.json()]).toMatchObject([
      400,
      { error: { message: "Missing uri for resource request" } },
    ]);
    const missing = await fetch(`${client.url}/jsonrpc?uri=else://1`);
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { error: { message: "Resource 'else://1' not found." } },
    ]);
  });

  test("G33: answers 200 for results", async () => {
    expect((await client.post(request("mcp/discover"))).status).toBe(200);
  });

  test("G33: errors of the caller are 400, missing targets 404, failures 500", async () => {
    const statusOf = async (body: unknown) => (await client.post(body)).status;
    expect(await Promise.all([statusOf("{"), statusOf({ id: 1 }), statusOf(request("math.add", {}))])).toEqual([
      400, 400, 400,
    ]);
    expect(
      await Promise.all([statusOf(request("no_tool")), statusOf(request("resource/get", { uri: "else://1" }))]),
    ).toEqual([404, 404]);
    expect(
      await Promise.all([statusOf(request("bad.run")), statusOf(request("resource/get", { uri: "doc://bad" }))]),
    ).toEqual([500, 500]);
  });

  test("C7: at `/`, MCP's methods have their statuses, and failures those of the outcome table", async () => {
    expect(await client.post(request("tools/list"))).toMatchObject({ status: 200 });
    expect(await client.post(request("tasks/get"))).toMatchObject({ status: 404, reply: { error: { code: -32601 } } });
    core.mcp.registerTool("slow.poke", () => new Promise(() => {}), {}, "", { timeout: 50 });
    expect(await client.post(request("slow.poke"))).toMatchObject({
      status: 504,
      reply: { error: { code: -32000, data: { kind: "timeout" } } },
    });
  });

  test("C7: at /mcp MCP's rules apply, and the dialect is refused", async () => {
    const answer = await client.post(request("math.add", { a: 1, b: 1 }), "/mcp", {
      accept: "application/json, text/event-stream",
    });
    expect(answer).toMatchObject({ status: 400, reply: { error: { code: -32000 } } });
  });

  test("C1: with legacy = true /mcp accepts the dialect, and still accepts MCP", async () => {
    core.with({ settings: { server: { legacy: true } } });
    core.mcp.registerTool("math.add", ({ a, b }: { a: number; b: number }) => a + b, SUM);
    const both = await core.http();
    expect(await both.post(request("math.add", { a: 1, b: 1 }), "/mcp")).toMatchObject({
      status: 200,
      reply: { result: 2 },
    });
    const opened = await both.post(INITIALIZE, "/mcp", { accept: "application/json, text/event-stream" });
    expect(opened).toMatchObject({ status: 200, reply: { result: { protocolVersion: "2025-11-25" } } });
    expect(
      await both.post(request("tools/list"), "/mcp", { accept: "application/json, text/event-stream" }),
    ).toMatchObject({ status: 400 });
  });

  test("C1: with jsonrpc = false the dialect is disabled", async () => {
    core.with({ settings: { server: { jsonrpc: false } } });
    expect(await (await core.http()).post(request("mcp/discover"), "/")).toMatchObject({
      status: 404,
      text: "Not Found",
    });
    expect(await core.stdio().ask(request("mcp/discover"))).toMatchObject({
      error: { code: -32601, message: "Method not found: mcp/discover" },
    });
  });

  test("C1: a session of MCP at / has all methods, and accepts the dialect too", async () => {
    const accept = { accept: "application/json, text/event-stream" };
    const opened = await fetch(`${client.url}/`, {
      method: "POST",
      headers: { "content-type": "application/json", ...accept },
      body: JSON.stringify(INITIALIZE),
    });
    const session = { ...accept, "mcp-session-id": opened.headers.get("mcp-session-id")! };
    await opened.text();
    expect(session["mcp-session-id"]).toBeTruthy();
    expect(
      (await client.post(request("tools/call", { name: "math.add", arguments: { a: 1, b: 1 } }), "/", session)).text,
    ).toContain('"structuredContent":{"sum":2}');
    expect((await client.post(request("math.add", { a: 1, b: 1 }), "/", session)).text).toContain('"result":{"sum":2}');
    const ended = await fetch(`${client.url}/`, { method: "DELETE", headers: session });
    expect(ended.status).toBe(200);
  });

  test("C6: a malformed request gets the error -32600, with the id of the request if it has a valid one", async () => {
    expect(await client.post({ id: 9, method: "x" })).toMatchObject({
      status: 400,
      reply: { id: 9, error: { code: -32600 } },
    });
    expect(await client.post({ jsonrpc: "2.0", id: "a", result: 5 })).toMatchObject({
      status: 400,
      reply: { error: { code: -32600 } },
    });
  });

  test("C6: a well-formed request with wrong parameters is not malformed", async () => {
    expect((await client.post(request("math.add", { a: 1 }))).reply.error?.code).toBe(-32602);
  });

  test("C17: over HTTP, too, a batch is answered by one array, and notifications get no answer", async () => {
    const batch = await client.post([
      request("math.add", { a: 1, b: 1 }, 1),
      1,
      { jsonrpc: "2.0", method: "say.nothing" },
    ]);
    expect(batch.status).toBe(200);
    expect(batch.reply).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: 1 }), expect.objectContaining({ id: null })]),
    );
    expect(await client.post([{ jsonrpc: "2.0", method: "say.nothing" }])).toMatchObject({ status: 202, text: "" });
    expect(await client.post({ jsonrpc: "2.0", method: "no_tool" })).toMatchObject({ status: 202, text: "" });
    expect(await client.post([])).toMatchObject({ status: 400, reply: { error: { code: -32600 } } });
    expect(await client.post(Array.from({ length: 101 }, (_, id) => request("say.nothing", {}, id)))).toMatchObject({
      status: 400,
    });
  });

  test("C17: a caller that disconnects ends its call", async () => {
    const slow = slowTool();
    const outgoing = httpRequest(`${client.url}/`, { method: "POST", headers: JSON_TYPE });
    outgoing.on("error", () => {});
    outgoing.end(JSON.stringify(request("slow.run")));
    await slow.begun;
    outgoing.destroy();
    await expect(slow.aborted).resolves.toBeUndefined();
    slow.open();
  });

  test("G34: the content type is application/json, and data is only present if there is any", async () => {
    const answer = await client.post(request("bad.run"));
    expect(answer).toMatchObject({ type: "application/json", reply: { error: { data: "boom" } } });
    expect(Object.keys((await client.post("{")).reply.error!)).toEqual(["code", "message"]);
  });

  test.each(["/", "/jsonrpc"])(
    "G34: at %s a browser's body of another type than JSON is 415, since any page could send it",
    async (path) => {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
        const headers = { "content-type": type, "sec-fetch-site": "same-origin" };
        expect(await client.post(request("say.nothing"), path, headers)).toMatchObject({
          status: 415,
          reply: { error: { message: expect.stringContaining("application/json") } },
        });
      }
      expect(
        await client.post(request("say.nothing"), path, { "content-type": "application/json; charset=utf-8" }),
      ).toMatchObject({ status: 200 });
    },
  );

  test("G37: logs access only at debug, without bodies", async () => {
    await client.post(request("math.add", { a: 4711, b: 1 }));
    await expect
      .poll(() => core.log.all)
      .toEqual(expect.arrayContaining(["debug HTTP IN: POST /jsonrpc", "debug HTTP OUT (200): POST /jsonrpc"]));
    expect(core.log.whole).not.toContain("4711");
  });

  test("G37: no log line above debug reports a request", async () => {
    await client.post(request("say.nothing"));
    expect(core.log.all.filter((line) => !line.startsWith("debug") && /HTTP (IN|OUT)|jsonrpc/.test(line))).toEqual([]);
  });

  test("G38: a registration is immediately available over both transports", async () => {
    const pipe = core.stdio();
    core.mcp.registerTool("late.tool", () => "here");
    expect((await client.post(request("late.tool"))).reply.result).toBe("here");
    expect((await pipe.ask(request("late.tool"))).result).toBe("here");
  });

  test("G38: a removed registration disappears from both transports", async () => {
    const pipe = core.stdio();
    core.mcp.unregisterTool("say.nothing");
    expect((await client.post(request("say.nothing"))).reply.error?.code).toBe(-32601);
    expect((await pipe.ask(request("say.nothing"))).error?.code).toBe(-32601);
  });
});

describe("the HTTP server object", () => {
  test("G35: its host and port have defaults, start serves in the background, stop closes the socket", async () => {
    const plain = new MCPHTTPServer(core.mcp);
    expect([plain.host, plain.port]).toEqual(["127.0.0.1", 8080]);
    const server = new MCPHTTPServer(core.mcp, "127.0.0.1", 0);
    await server.start();
    const { url } = server;
    expect(
      (await fetch(`${url}/`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(request("say.nothing")) }))
        .status,
    ).toBe(200);
    await server.stop();
    await expect(fetch(`${url}/`)).rejects.toThrow();
  });

  test("G35: stop waits at most a second for a call", async () => {
    const slow = slowTool();
    const server = new MCPHTTPServer(core.mcp, "127.0.0.1", 0);
    await server.start();
    const answer = fetch(`${server.url}/`, {
      method: "POST",
      headers: JSON_TYPE,
      body: JSON.stringify(request("slow.run")),
    }).then((response) => response.json());
    await slow.begun;
    const begunAt = performance.now();
    await server.stop();
    expect(performance.now() - begunAt).toBeLessThan(10_000);
    expect(await answer).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  test("G35: refuses a port in use, an address beyond loopback without a token, and a second start", async () => {
    const first = await core.http();
    await expect(new MCPHTTPServer(core.mcp, "127.0.0.1", Number(new URL(first.url).port)).start()).rejects.toThrow(
      "port",
    );
    await expect(new MCPHTTPServer(core.mcp, "0.0.0.0", 0).start()).rejects.toThrow("without a token");
  });

  test("G36: start_http_server initialises and returns the running server", async () => {
    core.module("a", 'mcp.register_tool("a.tool", () => "found");');
    const server = await startHttpServer("127.0.0.1", 0, core.options);
    try {
      const response = await fetch(`${server.url}/jsonrpc`, {
        method: "POST",
        headers: JSON_TYPE,
        body: JSON.stringify(request("a.tool")),
      });
      expect(await response.json()).toEqual({ jsonrpc: "2.0", id: 1, result: "found" });
    } finally {
      await server.stop();
    }
  });

  test("G36: rejects if it cannot serve", async () => {
    await expect(start_http_server("127.0.0.1", 70_000, core.options)).rejects.toThrow("from 0 to 65535");
  });
});
