import { fileURLToPath } from "node:url";
import { stringify } from "smol-toml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import type { McpSession, SessionOptions } from "./mcp-session.ts";
import { PipeClient } from "./pipe-client.ts";
import { Yard } from "./yard.ts";

const SERVER = [process.execPath, fileURLToPath(new URL("rag/library-server.mjs", import.meta.url))];

let yard: Yard;
let pipe: PipeClient | undefined;

beforeEach(() => {
  yard = new Yard();
});
afterEach(async () => {
  await pipe?.[Symbol.asyncDispose]();
  pipe = undefined;
  await yard[Symbol.asyncDispose]();
});

const MODULE = `
  let go;
  const gone = new Promise((resolve) => (go = resolve));
  hub.registerTool("t.echo", (args) => args);
  hub.registerTool("t.wait", async () => { await gone; return "waited"; });
  hub.registerTool("t.go", () => { go(); return "went"; });
  let aborted = 0;
  hub.registerTool("t.hang", (_args, { signal }) => new Promise((_, no) => signal.addEventListener("abort",
    () => { aborted += 1; no(new Error("ended")); })));
  hub.registerTool("t.aborted", () => aborted);
  hub.registerTool("t.steps", (_args, { progress }) => { for (let step = 1; step <= 3; step += 1) progress(step, 3);
    return "done"; });
  hub.registerTool("t.hidden", () => 1, {}, "", { visibility: "ondemand" });
`;

function settings(): HubConfig {
  yard.module("t", MODULE);
  return { modules: { paths: [yard.path("mods")] } };
}

async function open(options: SessionOptions = {}, more: HubConfig = {}): Promise<McpSession> {
  await yard.open({ ...settings(), ...more });
  return yard.mcp(options);
}

/** Starts the program on stdio, before the first message. */
function openPipe({
  more = {},
  ...options
}: { more?: HubConfig; flags?: readonly string[]; env?: Record<string, string> } = {}): PipeClient {
  const config = yard.folder.write("toolyard.toml", stringify({ ...settings(), ...more }));
  pipe = new PipeClient(config, options);
  return pipe;
}

const toolNames = (reply: JsonObject): string[] =>
  (reply["result"] as { tools: JsonObject[] }).tools.map(({ name }) => String(name));

describe("the MCP endpoint", () => {
  test.each(["mcp/discover", "get_mcp_server_capabilities", "resource/get", "mcp.capabilities", "t.echo"])(
    "C1: /mcp serves only MCP, so the method %s is unknown there",
    async (method) => {
      expect((await (await open()).request(method, {})).error?.code).toBe(-32601);
    },
  );

  test("C1: /mcp serves MCP's methods", async () => {
    expect((await (await open()).request("ping")).result).toEqual({});
  });

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "C2: %s is answered with the same version",
    async (revision) => {
      const client = await open({ revision });
      expect(client.opening["protocolVersion"]).toBe(revision);
      expect(JSON.parse(await client.text("t.echo", { a: 1 }))).toEqual({ a: 1 });
    },
  );

  test("C2: initialize with an unknown version is answered with the latest version, never with an error", async () => {
    expect((await open({ revision: "1999-01-01" })).opening["protocolVersion"]).toBe("2025-11-25");
  });

  test("C2: 2026-07-28 is served without a session, by the version in _meta", async () => {
    const client = await open({ revision: "2026-07-28" });
    const { result } = await client.request("server/discover");
    expect(result).toMatchObject({ resultType: "complete", supportedVersions: ["2026-07-28"] });
    expect(JSON.parse(await client.text("t.echo", { a: 1 }))).toEqual({ a: 1 });
  });

  test("C2: an unknown version in _meta is -32022 with the supported versions", async () => {
    const client = await open({ revision: "2026-07-28" });
    const params = {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    };
    const { messages } = await client.post({ jsonrpc: "2.0", id: 1, method: "tools/list", params });
    expect(messages).toMatchObject([{ id: 1, error: { code: -32022, data: { supported: ["2026-07-28"] } } }]);
  });

  const tokens = { reader: { token: "t-reader", read_only: true }, all: { token: "t-all" } };

  test("C35: with tokens a caller has the identity of its token", async () => {
    const client = await open({ headers: { authorization: "Bearer t-all" } }, { server: { tokens } });
    expect(JSON.parse(await client.text("t.echo", { a: 1 }))).toEqual({ a: 1 });
    const reader = await yard.mcp({ headers: { authorization: "Bearer t-reader" } });
    expect((await reader.call("t.echo")).result).toMatchObject({ isError: true, _meta: { "toolyard/kind": "denied" } });
  });

  test.each([undefined, "Bearer wrong", "Basic dC1hbGw6"])(
    "C35: without a valid token (%s) the answer is 401 and states how to authenticate",
    async (authorization) => {
      await yard.open({ ...settings(), server: { tokens } });
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(authorization === undefined ? {} : { authorization }),
      };
      const response = await fetch(await yard.endpoint(), {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/u);
    },
  );

  test.each([
    ["no jsonrpc", { id: 7, method: "ping" }],
    ["another jsonrpc", { jsonrpc: "1.0", id: 7, method: "ping" }],
    ["no method", { jsonrpc: "2.0", id: 7 }],
  ])("C6: a request with %s is -32600, with its id", async (_, body) => {
    const { messages } = await (await open()).post(body);
    expect(messages).toMatchObject([{ jsonrpc: "2.0", id: 7, error: { code: -32600 } }]);
  });

  test("C6: wrong params are -32602", async () => {
    const { messages } = await (
      await open()
    ).post({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: 5 } });
    expect(messages).toMatchObject([{ id: 7, error: { code: -32602 } }]);
  });

  test("C7: on /mcp a JSON-RPC answer is 200, an error too, and a notification 202 without a body", async () => {
    const client = await open();
    expect(
      (await client.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "nobody" } })).status,
    ).toBe(200);
    expect(await client.post({ jsonrpc: "2.0", method: "notifications/initialized" })).toMatchObject({
      status: 202,
      text: "",
    });
  });

  test("C7: invalid HTTP is 4xx", async () => {
    const client = await open();
    expect((await client.post("{", {})).status).toBe(400);
    expect((await client.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": "nobody" })).status).toBe(
      404,
    );
    expect(
      (await client.post({ jsonrpc: "2.0", id: 1, method: "ping" }, { "content-type": "text/plain" })).status,
    ).toBe(415);
  });

  test("C16: ping, lists and other tools respond while a tool runs", async () => {
    const client = await open();
    const waiting = client.text("t.wait");
    expect((await client.request("ping")).result).toEqual({});
    expect(await client.names()).toContain("t.wait");
    expect(await client.text("t.go")).toBe("went");
    expect(await waiting).toBe("waited");
  });

  test("C16: calls above one client's limit are refused, with the time to retry", async () => {
    const client = await open({}, { limits: { in_flight: 2 } });
    const held = [client.call("t.wait"), client.call("t.wait")];
    await expect
      .poll(async () => (await client.call("t.echo")).result?.["_meta"])
      .toMatchObject({ "toolyard/kind": "limited" });
    // This limit applies to callers of the endpoint only, not to the program itself.
    expect(await yard.hub.call("t.go")).toMatchObject({ ok: true });
    for (const one of held) expect((await one).result?.["isError"]).toBeUndefined();
  });

  test("C17: a batch is accepted up to 2025-03-26", async () => {
    const client = await open({ revision: "2025-03-26" });
    const { messages } = await client.post([
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/x" },
      { jsonrpc: "2.0", id: 2, method: "nobody" },
    ]);
    expect(messages).toHaveLength(2);
    expect(messages).toEqual(
      expect.arrayContaining([
        { jsonrpc: "2.0", id: 1, result: {} },
        expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32601 }) }),
      ]),
    );
  });

  test("C17: an empty batch gets -32600, one of notifications no reply; later revisions refuse batches", async () => {
    const client = await open({ revision: "2025-03-26" });
    expect((await client.post([])).messages).toMatchObject([{ id: null, error: { code: -32600 } }]);
    expect(await client.post([{ jsonrpc: "2.0", method: "notifications/x" }])).toMatchObject({ status: 202, text: "" });
    const later = await yard.mcp({ revision: "2025-06-18" });
    expect((await later.post([{ jsonrpc: "2.0", id: 1, method: "ping" }])).messages).toMatchObject([
      { error: { code: -32600 } },
    ]);
  });

  test("C33: the next response contains a change, and listeners receive list_changed", async () => {
    yard.script("one");
    await yard.open({ scripts: { tools_path: yard.path("tools") } });
    const url = await yard.endpoint();
    for (const era of ["legacy", "modern"] as const) {
      await using client = await RawClient.open(new HttpWire(url, era), { era });
      await client.listen();
      const told = client.next("notifications/tools/list_changed");
      yard.script(`for_${era}`);
      await told;
      expect((await client.list("tools/list", "tools")).map(({ name }) => name)).toContain(`for_${era}`);
    }
  });

  test("C33: a list of 2026-07-28 must not be cached", async () => {
    expect((await (await open({ revision: "2026-07-28" })).request("tools/list")).result).toMatchObject({ ttlMs: 0 });
  });

  test("C33: without a change there is no notification", async () => {
    yard.script("one");
    await yard.open({ scripts: { tools_path: yard.path("tools") } });
    await using client = await RawClient.open(new HttpWire(await yard.endpoint(), "legacy"), { era: "legacy" });
    yard.script("one");
    await client.list("tools/list", "tools");
    yard.script("two");
    await client.next("notifications/tools/list_changed");
    expect(client.received.filter(({ method }) => method === "notifications/tools/list_changed")).toHaveLength(1);
  });

  test.each([0, "", "request-123", -1])("C46: returns the id %j with its type and value", async (id) => {
    expect((await (await open()).post({ jsonrpc: "2.0", id, method: "ping" })).messages).toEqual([
      { jsonrpc: "2.0", id, result: {} },
    ]);
  });

  test.each([[null], [{}], [[]], [true]])("C46: refuses the id %j", async (id) => {
    const { messages } = await (await open()).post({ jsonrpc: "2.0", id, method: "ping" });
    expect(messages).toMatchObject([{ id: null, error: { code: -32600 } }]);
  });
});

describe("stdio", () => {
  test("R7: answers the specified initialize, with id 0 and 2024-11-05, in its version", async () => {
    const reply = await openPipe().request(0, "initialize", {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      clientInfo: { name: "my-llm-app", version: "1.0.0" },
    });
    expect(reply).toMatchObject({
      jsonrpc: "2.0",
      id: 0,
      result: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "toolyard" } },
    });
  });

  test("R7: refuses an initialize without a version with -32602", async () => {
    expect(await openPipe().request(0, "initialize", { capabilities: {} })).toMatchObject({
      id: 0,
      error: { code: -32602 },
    });
  });

  test("R8: notifications/initialized gets no response, with or without params", async () => {
    const client = openPipe();
    await client.initialize("2024-11-05");
    client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await client.request(1, "ping");
    expect(client.messages().map(({ id }) => id)).toEqual(["init", 1]);
  });

  test("R9: tools/list returns name, description and inputSchema", async () => {
    const client = openPipe();
    await client.initialize("2024-11-05");
    const reply = await client.request(1, "tools/list");
    const tools = (reply["result"] as { tools: JsonObject[] }).tools;
    expect(tools.find(({ name }) => name === "t.echo")).toEqual({
      name: "t.echo",
      description: "",
      inputSchema: { type: "object" },
    });
  });

  test("R10: tools/call returns content with JSON as text, which a client can parse", async () => {
    const client = openPipe();
    await client.initialize("2024-11-05");
    const reply = await client.request(2, "tools/call", { name: "t.echo", arguments: { query: "x" } });
    const { content } = reply["result"] as { content: { type: string; text: string }[] };
    expect(content[0]?.type).toBe("text");
    expect(JSON.parse(content[0]!.text)).toEqual({ query: "x" });
  });

  test("R13: every message is one line that ends with a line feed, in both directions", async () => {
    const client = openPipe();
    await client.initialize("2024-11-05");
    const text = "two\nlines \u2028 and more";
    expect(await client.request(1, "tools/call", { name: "t.echo", arguments: { text } })).toMatchObject({
      result: { content: [{ text: JSON.stringify({ text }) }] },
    });
    expect(client.lines).toHaveLength(2);
  });

  test("R13: invalid JSON is -32700, and the next line is served", async () => {
    const client = openPipe();
    await client.initialize("2024-11-05");
    client.send('{"jsonrpc":"2.0",');
    expect(await client.reply(({ error }) => error !== undefined)).toMatchObject({ id: null, error: { code: -32700 } });
    expect(await client.request(1, "ping")).toMatchObject({ result: {} });
  });

  test("R11: a client that matches replies by id gets each reply once, in any order", async () => {
    const client = openPipe();
    await client.initialize("2024-11-05");
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, n) => client.request(n + 1, "tools/call", { name: "t.echo", arguments: { n } })),
    );
    replies.forEach((reply, n) =>
      expect(reply).toMatchObject({ result: { content: [{ text: JSON.stringify({ n }) }] } }),
    );
    expect(client.messages()).toHaveLength(31);
  });

  test("R14: writes the hub's log to stderr", async () => {
    const client = openPipe();
    await client.initialize("2024-11-05");
    await client.request(1, "tools/list");
    await client.end();
    expect(client.stderr).toContain("Successfully registered tools from");
    expect(client.lines.join("\n")).not.toContain("Successfully registered");
  });

  test("R4: a client that closes its end stops the hub, and the hub stops its children", async () => {
    const client = openPipe({ more: { mcp: { stdio_servers: { library: { command: SERVER } } } } });
    await client.initialize();
    const reply = await client.request(1, "tools/call", { name: "library__where", arguments: {} });
    const { pid } = JSON.parse((reply["result"] as { content: { text: string }[] }).content[0]!.text) as {
      pid: number;
    };
    expect(await client.end()).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  test("C16: replies arrive in any order, each as one unbroken line", async () => {
    const client = openPipe();
    await client.initialize();
    const waiting = client.request(1, "tools/call", { name: "t.wait" });
    expect(await client.request(2, "ping")).toMatchObject({ result: {} });
    await client.request(3, "tools/call", { name: "t.go" });
    expect(await waiting).toMatchObject({ result: { content: [{ text: "waited" }] } });
  });

  test("C17: a message without an id is never answered, whatever its content", async () => {
    const client = openPipe();
    await client.initialize();
    for (const method of ["tools/call", "nobody", "ping", "initialize"])
      client.send({ jsonrpc: "2.0", method, params: { name: "t.echo" } });
    await client.request(1, "ping");
    expect(client.messages().map(({ id }) => id)).toEqual(["init", 1]);
  });

  test("C17: notifications/cancelled ends the call, and a progress token enables progress", async () => {
    const client = openPipe();
    await client.initialize();
    // The first call loads the code that checks it. A call that is cancelled during that time never begins.
    await client.request(9, "tools/call", { name: "t.aborted" });
    client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t.hang" } });
    await client.request(2, "ping");
    client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await expect
      .poll(() => client.request(Math.random(), "tools/call", { name: "t.aborted" }))
      .toMatchObject({ result: { content: [{ text: "1" }] } });
    await client.request(3, "tools/call", { name: "t.steps", _meta: { progressToken: "p" } });
    expect(
      client
        .messages()
        .filter(({ method }) => method === "notifications/progress")
        .map(({ params }) => params),
    ).toEqual([1, 2, 3].map((progress) => ({ progressToken: "p", progress, total: 3 })));
    expect(client.messages().filter(({ id }) => id === 1)).toEqual([]);
  });

  test.each([
    ["--tool-mode", { flags: ["--tool-mode", "discovery"] }],
    ["TOOLYARD_SERVER_TOOL_MODE", { env: { TOOLYARD_SERVER_TOOL_MODE: "discovery" } }],
  ])("C32: over stdio the mode is read from %s", async (_, options) => {
    const client = openPipe(options);
    await client.initialize();
    expect(toolNames(await client.request(1, "tools/list"))).toEqual(["execute_tool", "tool_search"]);
  });

  test("C32: over stdio the mode in initialize.params._meta has precedence", async () => {
    const client = openPipe({ flags: ["--tool-mode", "normal"] });
    await client.initialize("2025-11-25", { _meta: { tool_mode: "discovery" } });
    expect(toolNames(await client.request(1, "tools/list"))).toEqual(["execute_tool", "tool_search"]);
  });

  test("C32: without a mode, and with an unknown one, the mode is normal", async () => {
    const client = openPipe();
    await client.initialize("2025-11-25", { _meta: { tool_mode: "nonsense" } });
    expect(toolNames(await client.request(1, "tools/list"))).toEqual(expect.arrayContaining(["t.echo", "tool_search"]));
  });

  test("C44: standard output contains only the protocol, whatever modules and children print", async () => {
    yard.module(
      "loud",
      'console.log("a stray print at import"); hub.registerTool("loud.echo", () => { console.log("a stray ' +
        'print in a call"); process.stdout.write("and another"); return 1; });',
    );
    const client = openPipe({ more: { mcp: { stdio_servers: { library: { command: [...SERVER, "chatty"] } } } } });
    await client.initialize();
    await client.request(1, "tools/call", { name: "loud.echo", arguments: {} });
    await client.request(2, "tools/call", { name: "library__add_numbers", arguments: { a: 1, b: 1 } });
    await client.end();
    expect(client.messages().every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    expect(client.stderr).toContain("a stray print at import");
    expect(client.stderr).toContain("a stray print in a call");
    expect(client.stderr).toContain("and another");
  });

  test("C46: refuses an id in use with -32600, and answers the first call", async () => {
    const client = openPipe();
    await client.initialize();
    client.send({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "t.wait" } });
    client.send({ jsonrpc: "2.0", id: 5, method: "ping" });
    expect(await client.reply(({ error }) => error !== undefined)).toMatchObject({ error: { code: -32600 } });
    await client.request(6, "tools/call", { name: "t.go" });
    expect(await client.reply(({ id, result }) => id === 5 && result !== undefined)).toMatchObject({
      result: { content: [{ text: "waited" }] },
    });
  });
});
