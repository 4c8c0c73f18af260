import { describe, expect, test } from "vitest";
import { HubStandIn } from "../../../../../test/fixtures/hub-stand-in.ts";
import { LOCAL_PRINCIPAL, type ToolMode } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { KINDS, type FailKind } from "../../core/calls/kinds.ts";
import { fail } from "../../core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { createTestListener } from "../../../../../test/support/test-listener.ts";
import { resolveHttp } from "../../http/options.ts";
import type { DialectAnswer, DialectContext } from "../dialect.ts";
import { JsonRpcHttpEndpoint } from "./http-endpoint.ts";
import { resolveJsonRpcEndpoint } from "./options.ts";
import type { McpFace } from "../endpoint.ts";
import { isDialectMethod, JsonRpcDialect } from "./json-rpc-dialect.ts";

function dialectOf(hub: HubStandIn, logger = SILENT_LOGGER): JsonRpcDialect {
  return new JsonRpcDialect({ hub, logger, describeServer: () => "A test" });
}

function context(mode: ToolMode = "normal", signal = new AbortController().signal): DialectContext {
  const link = {
    endpoint: "test",
    client: { capabilities: {} },
    signal,
    cancellation: signal,
    wants: { progress: false },
    relaysInput: false,
    notify: () => {},
    ask: () => Promise.reject(new Error("nobody")),
  };
  return { view: { mode, principal: LOCAL_PRINCIPAL }, link };
}

function ask(hub: HubStandIn, method: string, params: JsonObject = {}): Promise<DialectAnswer> | undefined {
  return dialectOf(hub).answer({ method, params }, context());
}

test("G23: answers an error in the hub's code with -32603 and an error id instead of the details", async () => {
  const answer = await ask(new HubStandIn(), "throws");
  expect(answer).toMatchObject({
    type: "error",
    kind: "internal",
    error: { code: -32603, message: expect.stringMatching(/^Internal error: .* under the id \S+\.$/) },
  });
  expect(JSON.stringify(answer)).not.toContain("secret detail");
});

test("G23: replaces the text of failures with the code internal, but not the text of a tool's failure", async () => {
  const hub = new HubStandIn();
  expect(await ask(hub, "outcome", { failure: { kind: "internal", message: "It broke." } })).toMatchObject({
    error: { code: -32603, message: "Internal error: It broke." },
  });
  expect(await ask(hub, "fail")).toMatchObject({
    error: { code: -32000, message: "Error executing tool 'fail': it broke" },
  });
});

test("G31: returns the literal internal server error for an exception outside dispatch", async () => {
  const listener = createTestListener(resolveHttp({ port: 0 }), SILENT_LOGGER);
  const mcp: McpFace = {
    cedePath: () => {},
    wants: () => false,
    take: () => {},
    serve: () => {},
    mount: () => {},
    giveUp: () => {},
    close: () => {},
    converse: () => {
      throw new Error("secret detail");
    },
  };
  const parts = { dialects: [dialectOf(new HubStandIn())], logger: SILENT_LOGGER, mcp };
  const endpoint = new JsonRpcHttpEndpoint(parts, resolveJsonRpcEndpoint());
  endpoint.mount(listener);
  const { url } = await listener.listen();
  const response = await fetch(`${url}/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"jsonrpc":"2.0","id":1,"method":"echo"}',
  });
  const text = await response.text();
  await listener.close();
  expect([response.status, JSON.parse(text)]).toMatchObject([
    500,
    { id: null, error: { code: -32603, message: expect.stringMatching(/^Internal server error: /) } },
  ]);
  expect(text).not.toContain("secret");
});

describe("C1: methods of the dialect", () => {
  test.each([
    "mcp/discover",
    "get_mcp_server_capabilities",
    "resource/get",
    "mcp.capabilities",
    "mcp.tool.execute",
    "mcp.resource.get",
    "echo",
    "a.b",
    "ns/tool",
    "toolbox",
  ])("C1: the dialect answers %s", (method) => {
    expect(isDialectMethod(method)).toBe(true);
  });

  test.each([
    "initialize",
    "ping",
    "tools/call",
    "tools/anything",
    "resources/read",
    "notifications/x",
    "tasks/get",
    "mcp/other",
    "rpc.discover",
    "server/discover",
  ])("C1: the dialect leaves %s to MCP", (method) => {
    expect(isDialectMethod(method)).toBe(false);
    expect(ask(new HubStandIn(), method)).toBeUndefined();
  });
});

test.each(Object.keys(KINDS) as FailKind[])(
  "G27: a failure with the outcome code %s has the JSON-RPC code of the table",
  async (kind) => {
    const hub = new HubStandIn();
    const answer = await ask(hub, "outcome", { failure: { kind, message: "Words." } });
    expect(answer).toMatchObject({ type: "error", kind, error: { code: KINDS[kind].jsonrpc } });
  },
);

test("G27: failures that share a JSON-RPC code carry their outcome code in the data", async () => {
  const answer = await ask(new HubStandIn(), "outcome", {
    failure: { kind: "limited", message: "Slow down.", retryable: true, retryAfterMs: 500 },
  });
  expect(answer).toMatchObject({
    error: { code: -32000, message: "Slow down.", data: { kind: "limited", retryable: true, retryAfterMs: 500 } },
  });
});

test("sends no answer to a caller that cancelled", async () => {
  const hub = new HubStandIn();
  const controller = new AbortController();
  const answering = dialectOf(hub).answer({ method: "slow", params: {} }, context("normal", controller.signal));
  controller.abort();
  expect(await answering).toEqual({ type: "silence" });
});

test("passes `_meta` to the tool as metadata of the request, not as an argument", async () => {
  const hub = new HubStandIn();
  await ask(hub, "echo", { text: "hi", _meta: { trace: 1, progressToken: 7 } });
  expect(hub.calls[0]).toMatchObject({
    endpoint: "jsonrpc",
    target: "echo",
    arguments: { text: "hi" },
    meta: { trace: 1 },
  });
});

test("lists the two search tools in discovery mode, otherwise all other tools", async () => {
  const hub = new HubStandIn();
  const names = async (mode: ToolMode): Promise<unknown[]> => {
    const answer = await dialectOf(hub).answer({ method: "mcp/discover", params: {} }, context(mode));
    return answer?.type === "value" ? (answer.value as { tools: JsonObject[] }).tools.map(({ name }) => name) : [];
  };
  expect(await names("discovery")).toEqual(["echo"]);
  expect(await names("normal")).not.toContain("echo");
});

test("keeps the message and data of a failure with its own MCP error", async () => {
  const hub = new HubStandIn();
  hub.handlers["own"] = () =>
    fail("invalid_params", "File not found", {
      rpcError: { code: -32602, message: "File not found", data: { path: "x" } },
    });
  expect(await ask(hub, "own")).toMatchObject({
    error: { code: -32602, message: "File not found", data: { path: "x" } },
  });
});
