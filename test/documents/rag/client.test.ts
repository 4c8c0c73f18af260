import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FailError, MCPClient } from "../../../packages/toolyard/src/client.ts";
import type { FailKind } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { MAIN } from "../../fixtures/served-hub.ts";
import { startLegacy, startModern, startServer, startSse, readJson, sendJson } from "../../fixtures/http-servers.ts";
import { isAlive, ToolFolder } from "../../support/tool-folder.ts";
import { MinimalClient } from "./minimal-client.ts";
import { closedPort, startTools } from "../tool-server.ts";

const SERVER = fileURLToPath(new URL("library-server.mjs", import.meta.url));
const EVERYTHING = fileURLToPath(
  new URL("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
const PEIRCE = { query: "What is nominalism?", limit: 5, author_filter: "Charles Sanders Peirce" };

let folder: ToolFolder;
const clients: { stop(): Promise<void> }[] = [];

beforeEach(() => {
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop()));
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

function open(...args: ConstructorParameters<typeof MCPClient>): MCPClient {
  const [server, env = {}, settings = {}] = args;
  const client = new MCPClient(server, env, { logger: SILENT_LOGGER, ...settings });
  clients.push(client);
  return client;
}

async function started(...args: ConstructorParameters<typeof MCPClient>): Promise<MCPClient> {
  const client = open(...args);
  await client.start();
  return client;
}

interface Where {
  readonly pid: number;
  readonly env: Readonly<Record<string, string>>;
}

const where = async (client: MCPClient): Promise<Where> => (await client.callTool("where")) as Where;

async function failure(work: Promise<unknown>): Promise<{ kind: FailKind; message: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(FailError);
  return (error as FailError).failure;
}

/** Starts an HTTP server with one tool that returns exactly this result. */
function startResult(result: JsonObject): ReturnType<typeof startServer> {
  return startServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method } = await readJson(request);
    if (id === undefined) return response.writeHead(202).end();
    const answers: Record<string, JsonObject> = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "raw", version: "1" },
      },
      "tools/list": { tools: [{ name: "it", inputSchema: { type: "object" } }] },
      "tools/call": result,
    };
    const answer = answers[method ?? ""];
    return sendJson(response, 200, {
      jsonrpc: "2.0",
      id,
      ...(answer ? { result: answer } : { error: { code: -32601, message: "Method not found" } }),
    });
  });
}

describe("life cycle of a client", () => {
  test("R1: a script's path is enough to start, call and stop it", async () => {
    const client = await started(SERVER);
    const { pid } = await where(client);
    expect(isAlive(pid)).toBe(true);
    await client.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test("R1: a server that exits fails the call, and the next call starts it again", async () => {
    const client = await started(SERVER);
    const first = await where(client);
    expect((await failure(client.callTool("exit"))).kind).toBe("unavailable");
    await expect.poll(async () => (await where(client)).pid).not.toBe(first.pid);
  });

  test("R2: env is merged over the variables that every child gets", async () => {
    const { env } = await where(await started(SERVER, { MISTRAL_API_KEY: "key", LANG: "xx" }));
    expect(env).toMatchObject({ MISTRAL_API_KEY: "key", LANG: "xx", PATH: process.env["PATH"] });
  });

  test("R2: a script by path gets the whole environment, a server by settings only the named variables", async () => {
    vi.stubEnv("A_SECRET_OF_THE_PARENT", "x");
    expect((await where(await started(SERVER, null))).env["A_SECRET_OF_THE_PARENT"]).toBe("x");
    const settled = await started({ command: [process.execPath, SERVER] }, null);
    expect((await where(settled)).env["A_SECRET_OF_THE_PARENT"]).toBeUndefined();
  });

  test("R3: start spawns the server and completes the handshake; repeating it has no effect", async () => {
    const record = `${folder.path}/record`;
    const client = open({ command: [process.execPath, SERVER, `record=${record}`] });
    await Promise.all([client.start(), client.start()]);
    const read = (): unknown[] =>
      readFileSync(record, "utf8")
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as JsonObject)["method"]]));
    // A notification has no response to wait for, so the test reads the server's record.
    await expect.poll(read).toContain("notifications/initialized");
    const methods = read();
    expect(methods.filter((method) => method === "initialize")).toHaveLength(1);
    expect(methods.indexOf("notifications/initialized")).toBe(methods.indexOf("initialize") + 1);
  });

  test("R3: start reports a server that cannot start, and a call before it is refused", async () => {
    expect(await failure(open(`${folder.path}/gone.py`).start())).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("There is no server script at"),
    });
    expect((await failure(open({ command: ["toolyard-no-such-program"] }).start())).kind).toBe("unavailable");
    expect(await failure(open(SERVER).callTool("where"))).toMatchObject({
      message: "The client is not started. Call `start()` first.",
    });
    expect(() => open("")).toThrow("The server must be a script's path");
  });

  test("R4: stop ends the server and waits for it; start works again", async () => {
    const client = await started(SERVER);
    const { pid } = await where(client);
    await client.stop();
    expect(isAlive(pid)).toBe(false);
    await client.start();
    expect((await where(client)).pid).not.toBe(pid);
  });

  test("R4: stop is safe before a start, twice, and while starting", async () => {
    const client = open({ command: [process.execPath, SERVER, "silent"] });
    await client.stop();
    const starting = failure(client.start());
    await Promise.all([client.stop(), client.stop()]);
    expect((await starting).kind).toBe("unavailable");
  });
});

describe("tools", () => {
  test("R5: listTools returns name, description and input_schema", async () => {
    const tools = await (await started(SERVER)).listTools();
    expect(tools.find(({ name }) => name === "search_chunks")).toEqual({
      name: "search_chunks",
      description: "Search for text chunks using semantic similarity",
      input_schema: {
        type: "object",
        properties: {
          query: { type: "string" },
          limit: { type: "integer", default: 10 },
          author_filter: { type: "string" },
        },
        required: ["query"],
      },
    });
    expect(tools).toHaveLength(6);
  });

  test("R5: omits the protocol's spellings; a list that cannot be read is an error, not an empty list", async () => {
    const client = await started(SERVER);
    expect((await client.list_tools()).some((tool) => "inputSchema" in tool)).toBe(false);
    await client.stop();
    await failure(client.listTools());
  });

  test("R6, R18: callTool runs search_chunks with the specified example", async () => {
    const client = await started(SERVER);
    expect(await client.callTool("search_chunks", PEIRCE)).toMatchObject({
      results: [{ similarity: 0.9, author: "Charles Sanders Peirce" }],
      total_count: 1,
    });
    expect(await client.call_tool("search_chunks", PEIRCE)).toMatchObject({ total_count: 1 });
  });

  test("R6: unknown tools, invalid arguments and failing tools are errors with a kind", async () => {
    const client = await started(SERVER);
    expect((await failure(client.callTool("search_chunk", {}))).kind).toBe("unknown_tool");
    expect(await failure(client.callTool("search_chunks", {}))).toMatchObject({
      kind: "invalid_params",
      message: "Missing required parameter: query",
    });
    await using server = await startTools({
      fails: () => {
        throw new Error("no luck");
      },
    });
    expect(await failure((await started(server.url)).callTool("fails"))).toMatchObject({
      kind: "tool_error",
      message: "no luck",
    });
  });

  test.each<[string, JsonObject, unknown]>([
    ["text that is JSON is parsed", { content: [{ type: "text", text: '{"a": [1]}' }] }, { a: [1] }],
    [
      "structured content is preferred",
      { content: [{ type: "text", text: '{"a": 1}' }], structuredContent: { b: 2 } },
      { b: 2 },
    ],
    [
      "several items are a list",
      {
        content: [
          { type: "text", text: "1" },
          { type: "text", text: "two" },
        ],
      },
      [1, "two"],
    ],
    [
      "an image is its object",
      { content: [{ type: "image", data: "AA==", mimeType: "image/png" }] },
      { type: "image", data: "AA==", mimeType: "image/png" },
    ],
    ["a number that reads the same is a number", { content: [{ type: "text", text: "5" }] }, 5],
  ])("C12, R12: %s", async (_what, result, value) => {
    await using server = await startResult(result);
    expect(await (await started(server.url)).callTool("it")).toEqual(value);
  });

  test.each<[string, JsonObject, unknown]>([
    ["text that is no JSON stays text", { content: [{ type: "text", text: "plain {words" }] }, "plain {words"],
    ["a number that would read otherwise stays text", { content: [{ type: "text", text: "007" }] }, "007"],
    ["no content is nothing", { content: [] }, null],
  ])("C12, R12: %s", async (_what, result, value) => {
    await using server = await startResult(result);
    const client = await started(server.url);
    expect(await client.callTool("it")).toEqual(value);
    expect((await client.callToolRaw("it"))["content"]).toEqual(result["content"]);
  });
});

describe("any kind of server", () => {
  test.each([
    ["legacy", startLegacy],
    ["modern", startModern],
    ["HTTP+SSE", startSse],
  ] as const)("R1: connects to a URL: a %s server", async (_what, start) => {
    await using server = await start();
    const client = await started(new URL(server.url));
    expect(await client.callTool("echo", { text: "hi" })).toBe("hi");
    await client.stop();
  });

  test("R1: starts a command: a third-party server", async () => {
    const client = await started({ command: [process.execPath, EVERYTHING, "stdio"] });
    expect(await client.callTool("echo", { message: "hi" })).toBe("Echo: hi");
  });

  test("R1: starts a script in TypeScript or Python without a command", async () => {
    folder.write("server.ts", `const kind: string = "ts";\nawait import(${JSON.stringify(SERVER)});\nexport { kind };`);
    expect((await where(await started(`${folder.path}/server.ts`))).pid).toBeGreaterThan(0);
    folder.write("server.py", PYTHON_SERVER);
    expect(await (await started(`${folder.path}/server.py`, { WORD: "hi" })).callTool("word")).toBe("hi");
  });

  test("R1: refuses a URL without a server, and invalid settings", async () => {
    expect((await failure(open(`http://127.0.0.1:${await closedPort()}/mcp`).start())).kind).toBe("unavailable");
    expect(() => open({ url: "nowhere" })).toThrow("`url` is not a valid address");
    expect(() => open({ comand: "x" } as never)).toThrow("There is no option `comand`. Did you mean `command`?");
  });
});

describe("time limits, retries and logging", () => {
  test("R14: a server that writes over 64 KiB to stderr first works, and its stderr is available", async () => {
    const client = await started({ command: [process.execPath, SERVER, "chatty"] });
    expect(await client.callTool("add_numbers", { a: 1, b: 2 })).toEqual({ sum: 3 });
    await expect.poll(() => client.stderr.at(-1)).toMatch(/^loading model/);
  });

  test("R14: does not read the server's stderr as a response", async () => {
    folder.write(
      "server.mjs",
      `process.stderr.write('{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\\n'); ` +
        `await import(${JSON.stringify(SERVER)});`,
    );
    expect(await (await started(`${folder.path}/server.mjs`)).listTools()).toHaveLength(6);
  });

  test("R15, R16: single tools can have longer time limits", async () => {
    const client = await started(SERVER, {}, { timeout: "300ms", tool_timeouts: { parse_pdf: 20 } });
    expect(await client.callTool("parse_pdf", { pdf_path: "x", ms: 700 })).toMatchObject({ success: true });
    expect(await client.callTool("parse_pdf", { pdf_path: "x", ms: 400 }, { timeout: "10s" })).toMatchObject({
      success: true,
    });
  });

  test("R16: start, all calls and single calls have time limits", async () => {
    expect(
      (await failure(open({ command: [process.execPath, SERVER, "silent"], connectTimeout: "400ms" }).start())).kind,
    ).toMatch(/timeout|unavailable/);
    const client = await started(SERVER, {}, { timeout: 0.2 });
    expect((await failure(client.callTool("hang"))).kind).toBe("timeout");
    expect((await failure(client.callTool("parse_pdf", { pdf_path: "x", ms: 5000 }, { timeout: "100ms" }))).kind).toBe(
      "timeout",
    );
    await expect(client.callTool("hang", {}, { timeout: "soon" })).rejects.toThrow("`timeout` must be");
  });

  test("R17: tries a server again that is unreachable at first", async () => {
    let dropped = 0;
    const before: NonNullable<Parameters<typeof startTools>[1]>["before"] = (request, response) => {
      if (dropped > 0) return;
      dropped += 1;
      request.socket.destroy();
      response.destroy();
    };
    await using server = await startTools({ one: () => "1" }, { before });
    expect(await (await started({ url: server.url, connectAttempts: 3 })).callTool("one")).toBe(1);
    expect(dropped).toBe(1);
  });

  test("R17: does not repeat a started call, and refuses a call after stop", async () => {
    let runs = 0;
    await using server = await startTools({
      fails: () => {
        runs += 1;
        throw new Error("broke");
      },
    });
    const client = await started(server.url);
    await failure(client.callTool("fails"));
    expect(runs).toBe(1);
    await client.stop();
    expect((await failure(client.callTool("fails"))).kind).toBe("unavailable");
  });

  test("R18: a logger receives connection events; without a logger, successes are not logged", async () => {
    const lines: string[] = [];
    const logger = { ...SILENT_LOGGER, info: (line: string) => void lines.push(line), with: () => logger };
    await started(SERVER, {}, { logger });
    expect(lines).toContain("Connected.");
  });

  test("C17: a signal cancels a call, and progress is reported", async () => {
    await using server = await startLegacy();
    const client = await started(server.url);
    const heard: unknown[] = [];
    expect(
      await client.callTool("steps", { count: 3 }, { onNotice: ({ params }) => void heard.push(params["progress"]) }),
    ).toBe("done");
    expect(heard).toEqual([1, 2, 3]);
    const stop = new AbortController();
    const hanging = failure((await started(SERVER)).callTool("hang", {}, { signal: stop.signal }));
    stop.abort();
    expect((await hanging).kind).toBe("cancelled");
  });

  test("C18: reads all pages of tools/list after the handshake", async () => {
    await using server = await startServer(async (request, response) => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method, params } = await readJson(request);
      if (id === undefined) return response.writeHead(202).end();
      const tool = (name: string): JsonObject => ({ name, inputSchema: { type: "object" } });
      // The response to initialize contains tools, as in the document; the client must not use them as its list.
      if (method === "initialize")
        return sendJson(response, 200, {
          jsonrpc: "2.0",
          id,
          result: {
            protocolVersion: "2024-11-05",
            capabilities: { tools: {} },
            serverInfo: { name: "raw", version: "1" },
            tools: [tool("early")],
          },
        });
      if (method !== "tools/list")
        return sendJson(response, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
      return sendJson(response, 200, {
        jsonrpc: "2.0",
        id,
        result: params?.["cursor"] === "next" ? { tools: [tool("two")] } : { tools: [tool("one")], nextCursor: "next" },
      });
    });
    expect((await (await started(server.url)).listTools()).map(({ name }) => name).toSorted()).toEqual(["one", "two"]);
  });
});

describe("the specified minimal client", () => {
  async function minimal(): Promise<MinimalClient> {
    folder.write("tools/noisy/run.sh", "echo warn >&2; cat > /dev/null; echo '{\"ok\": true}'");
    folder.write("tools/noisy/tool.toml", 'name = "noisy"\ndescription = "Warns."\nscript = "run.sh"\n');
    folder.write(
      "mods/loud/mcp.mjs",
      'export function registerTools(hub) { hub.registerTool("loud", () => { console.log("on stdout"); ' +
        "return { heard: true }; }); }",
    );
    const config = folder.write(
      "toolyard.toml",
      `[scripts]\ntools_path = "tools"\n[modules]\npaths = ["mods"]\n[mcp.stdio_servers.library]\n` +
        `command = ${JSON.stringify([process.execPath, SERVER])}\n`,
    );
    const client = new MinimalClient([process.execPath, MAIN, "serve", "--stdio", "--no-watch", "--config", config], {
      TOOLYARD_HOME: `${folder.path}/home`,
    });
    clients.push(client);
    return client;
  }

  test("R13: the client works with Toolyard's stdio endpoint: each answer has the id of its request", async () => {
    const client = await minimal();
    expect(await client.start()).toMatchObject({ protocolVersion: "2024-11-05" });
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["library__search_chunks", "noisy"]));
    expect(await client.callTool("library__search_chunks", PEIRCE)).toMatchObject({ total_count: 1 });
    expect(await client.callTool("noisy", {})).toEqual({ ok: true });
    expect(await client.callTool("loud", {})).toEqual({ heard: true });
    expect(client.ids).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
    ]);
  });

  test("R13: an invalid request also gets one line, so the next answer belongs to the next request", async () => {
    const client = await minimal();
    await client.start();
    // The text of a failed call is not JSON, so the `json.loads` of the skeleton cannot parse it.
    await expect(client.callTool("library__search_chunks", {})).rejects.toThrow(/JSON|undefined/);
    expect(await client.callTool("noisy", {})).toEqual({ ok: true });
    expect(client.ids).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });
});

const PYTHON_SERVER = `import json, os, sys
TOOL = {"name": "word", "description": "", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answers = {
        "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
          "serverInfo": {"name": "py", "version": "1"}},
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": os.environ.get("WORD", "")}]},
    }
    answer = answers.get(message["method"])
    body = {"result": answer} if answer else {"error": {"code": -32601, "message": "Method not found"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
`;
