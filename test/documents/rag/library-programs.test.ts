// Document R: its client in Python with this library document's server, and its client in a program with a server in
// Python.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LLMWithMCPTools } from "../../../packages/toolyard/src/agent.ts";
import { MCPClient } from "../../../packages/toolyard/src/client.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { Desk, exitOf, ROOT, textOf } from "../../cli/harness.ts";

let desk: Desk;
const clients: MCPClient[] = [];

beforeEach(async () => void (desk = await Desk.create()));
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop()));
  await desk[Symbol.asyncDispose]();
});

const BOOK = `---
title: Notes on the Engine
author: Ada Lovelace
year: 1843
---

# Notes on the Engine

## What it does

The Analytical Engine weaves algebraical patterns just as the Jacquard loom weaves flowers and leaves. It does not claim
to originate anything. It can do whatever we know how to order it to perform.

## What it is for

Its province is to assist us in making available what we are already acquainted with.
`;

test("R1, R3, R4, R5, R6, R9, R10, R12, R13, R20, R21, R22, R23, R25: the client reads and searches", async () => {
  const book = await desk.write("books/engine.md", BOOK);
  const main = join(ROOT, "packages/library/dist/main.js");
  const server = await desk.write(
    "mcp_server.py",
    `import os\nos.execv(${JSON.stringify(process.execPath)}, ["node", ${JSON.stringify(main)}, "--stdio"])\n`,
  );
  const child = desk.startCommand(["python3", join(ROOT, "test/documents/python/library_client.py"), server, book]);
  child.stdin!.end();
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
  expect(code, stderr).toBe(0);
  const told = JSON.parse(stdout);
  expect(told).toMatchObject({
    revision: "2024-11-05",
    tools: expect.arrayContaining([
      "delete_document",
      "filter_by_author",
      "get_chunks_by_document",
      "get_document",
      "list_documents",
      "parse_pdf",
      "search_chunks",
      "search_summaries",
    ]),
    search: {
      properties: { query: { type: "string" }, limit: { type: "integer", default: 10 } },
      required: ["query"],
    },
    parse: ["pdf_path"],
    parsed: { success: true, metadata: { title: "Notes on the Engine", author: "Ada Lovelace" } },
    none: { results: [], total_count: 0 },
    wrong: { isError: true, code: -32602 },
  });
  const { results, total_count: count } = told.found;
  expect(results.length).toBeLessThanOrEqual(2);
  expect(count).toBe(results.length);
  for (const { similarity, work_author: author } of results)
    expect([typeof similarity, author]).toEqual(["number", "Ada Lovelace"]);
  expect(results[0].text).toContain("Jacquard loom");
});

describe("# a program with the specified client", () => {
  const SERVER = `import json, sys, threading
print("reading room opens", file=sys.stderr, flush=True)
print("x" * 100000, file=sys.stderr, flush=True)
TOOLS = ["plain", "number", "listed", "picture", "long", "never"]
CONTENT = {
    "plain": [{"type": "text", "text": "no JSON at all"}],
    "number": [{"type": "text", "text": "{\\"pages\\": 12,\\n \\"title\\": \\"Notes\\"}"}],
    "listed": [{"type": "text", "text": "{\\"a\\": 1}"}, {"type": "text", "text": "b"}],
    "picture": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
    "long": [{"type": "text", "text": "{\\"read\\": true}"}],
}
lock = threading.Lock()

def say(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()

def answer(message):
    method, params = message["method"], message.get("params", {})
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        about = {"name": "reading-room", "version": "2"}
        reply["result"] = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": about}
    elif method == "tools/list":
        tool = lambda name: {"name": name, "description": "Gives " + name, "inputSchema": {"type": "object"}}
        reply["result"] = {"tools": [tool(name) for name in TOOLS]}
    elif method == "tools/call" and params["name"] == "never":
        return
    elif method == "tools/call" and params["name"] == "long":
        reply["result"] = {"content": CONTENT["long"]}
        threading.Timer(0.4, say, [reply]).start()
        return
    elif method == "tools/call":
        reply["result"] = {"content": CONTENT[params["name"]]}
    else:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    say(reply)

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer(message)
`;
  async function open(settings: object = {}): Promise<MCPClient> {
    const client = new MCPClient(await desk.write("mcp_server.py", SERVER), {}, { logger: SILENT_LOGGER, ...settings });
    clients.push(client);
    return client;
  }

  test("R1, R4, R5, R14: starts, lists, and stops at any time", async () => {
    const client = await open();
    await client.stop();
    await client.start();
    expect((await client.list_tools())[0]).toEqual({
      name: "plain",
      description: "Gives plain",
      input_schema: { type: "object" },
    });
    await expect.poll(() => client.stderr.join("\n")).toContain("reading room opens");
    await Promise.all([client.stop(), client.stop()]);
    await expect(client.call_tool("plain", {})).rejects.toThrow();
  });

  test("R6, R10, R12, R13: returns values of a tool by their type", async () => {
    const client = await open();
    await client.start();
    expect(await client.call_tool("plain", {})).toBe("no JSON at all");
    expect(await client.call_tool("number", {})).toEqual({ pages: 12, title: "Notes" });
    expect(await client.call_tool("listed", {})).toEqual([{ a: 1 }, "b"]);
    expect(await client.call_tool("picture", {})).toMatchObject({ type: "image", data: "AAAA" });
  });

  test("R15, R16: a slow tool has a longer time limit; other tools keep theirs", async () => {
    const client = await open({ timeout: 0.2, tool_timeouts: { long: 120 } });
    await client.start();
    await expect(client.call_tool("never", {})).rejects.toThrow("`tool_timeouts`");
    expect(await client.call_tool("long", {})).toEqual({ read: true });
  });

  test("R26, R31: needs only a vendor's client and the MCP client; tools are in that vendor's format", async () => {
    const client = await open();
    await client.start();
    const asked: { tools?: unknown }[] = [];
    const anthropic = {
      messages: {
        create: async (body: { tools?: unknown }) => {
          asked.push(body);
          const use = { type: "tool_use", id: "n1", name: "number", input: {} };
          return asked.length === 1
            ? { content: [use], stop_reason: "tool_use" }
            : { content: [{ type: "text", text: "Twelve pages." }], stop_reason: "end_turn" };
        },
      },
    };
    const tools = (await client.list_tools()).filter(({ name }) => name === "number");
    const described = { name: "number", description: "Gives number" };
    const schema = { type: "object" };
    const llm = new LLMWithMCPTools(anthropic, client);
    expect(llm.convertMcpToolsToLlmFormat(tools)).toMatchObject([{ ...described, input_schema: schema }]);
    expect(await llm.chat("How long are the notes?")).toBe("Twelve pages.");
    expect(asked[0]!.tools).toContainEqual(expect.objectContaining({ name: "number" }));
    const mistral = new LLMWithMCPTools({ chat: { complete: async () => ({}) } }, client);
    expect(mistral.convertMcpToolsToLlmFormat(tools)).toMatchObject([
      { type: "function", function: { ...described, parameters: schema } },
    ]);
  });
});
