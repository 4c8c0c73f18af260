import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { META } from "../../wire/modern/envelope.ts";
import { envelope, ModernServer, REVISION } from "../../../test/support/modern-server.ts";

let server: ModernServer;

beforeEach(async () => {
  server = await ModernServer.start();
});

afterEach(() => server[Symbol.asyncDispose]());

const modern = { "mcp-protocol-version": REVISION };
const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };
const listHeaders = { ...modern, "mcp-method": "tools/list" };
const _meta = envelope();

interface Case {
  readonly what: string;
  readonly body: string | Buffer | object;
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly code?: number;
  readonly id?: string | number | null;
}

const CASES: readonly Case[] = [
  // HTTP and JSON
  { what: "no body", body: "", status: 400, code: -32700, id: null },
  { what: "half a body", body: '{"jsonrpc":"2.0","id":1,', status: 400, code: -32700, id: null },
  { what: "plain words", body: "hello", status: 400, code: -32700, id: null },
  { what: "bytes that are not UTF-8", body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), status: 400, code: -32700, id: null },
  { what: "JSON nested too deep", body: "[".repeat(5000) + "]".repeat(5000), status: 400, code: -32600, id: null },
  { what: "a deep value in a request", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":${'{"a":'.repeat(200)}1${"}".repeat(200)}}}`, status: 400, code: -32600 },
  { what: "another media type", body: list, headers: { "content-type": "text/plain" }, status: 415, code: -32000 },
  { what: "a media type that only holds the right one", body: list, headers: { "content-type": "text/plain; a=application/json" }, status: 415, code: -32000 },
  // JSON-RPC
  { what: "a number", body: "42", status: 400, code: -32600, id: null },
  { what: "a string", body: '"x"', status: 400, code: -32600, id: null },
  { what: "null", body: "null", status: 400, code: -32600, id: null },
  { what: "an empty object", body: {}, status: 400, code: -32600, id: null },
  { what: "no version", body: { id: 3, method: "tools/list" }, status: 400, code: -32600, id: 3 },
  { what: "another version", body: { jsonrpc: "1.0", id: "a", method: "tools/list" }, status: 400, code: -32600, id: "a" },
  { what: "a method that is no string", body: { jsonrpc: "2.0", id: 0, method: 5 }, status: 400, code: -32600, id: 0 },
  { what: "params that are a list", body: { ...list, params: [1] }, status: 400, code: -32600, id: 7 },
  { what: "an id of null", body: { ...list, id: null }, status: 400, code: -32600, id: null },
  { what: "an id that is an object", body: { ...list, id: {} }, status: 400, code: -32600, id: null },
  { what: "an empty batch", body: [], status: 400, code: -32600, id: null },
  { what: "a batch with a modern request", body: [{ ...list, params: { _meta } }], headers: listHeaders, status: 400, code: -32600, id: null },
  // Envelope
  { what: "a modern header and no params", body: list, headers: listHeaders, status: 400, code: -32602, id: 7 },
  { what: "a modern header and an empty _meta", body: { ...list, params: { _meta: {} } }, headers: listHeaders, status: 400, code: -32602, id: 7 },
  {
    what: "no client capabilities",
    body: { ...list, params: { _meta: { [META.protocolVersion]: REVISION } } },
    headers: listHeaders,
    status: 400,
    code: -32602,
    id: 7,
  },
  { what: "a version that is a number", body: { ...list, params: { _meta: { ..._meta, [META.protocolVersion]: 1 } } }, headers: listHeaders, status: 400, code: -32602, id: 7 },
  { what: "client info without a version", body: { ...list, params: { _meta: { ..._meta, [META.clientInfo]: { name: "x" } } } }, headers: listHeaders, status: 400, code: -32602, id: 7 },
  { what: "an unknown log level", body: { ...list, params: { _meta: { ..._meta, [META.logLevel]: "loud" } } }, headers: listHeaders, status: 400, code: -32602, id: 7 },
  {
    what: "C2: an unknown version",
    body: { ...list, params: { _meta: { ..._meta, [META.protocolVersion]: "2099-01-01" } } },
    headers: { "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" },
    status: 400,
    code: -32022,
    id: 7,
  },
  // Headers
  { what: "no version header", body: { ...list, params: { _meta } }, headers: { "mcp-method": "tools/list" }, status: 400, code: -32020, id: 7 },
  { what: "another version in the header", body: { ...list, params: { _meta } }, headers: { ...listHeaders, "mcp-protocol-version": "2025-11-25" }, status: 400, code: -32020, id: 7 },
  { what: "no method header", body: { ...list, params: { _meta } }, headers: modern, status: 400, code: -32020, id: 7 },
  { what: "another method in the header", body: { ...list, params: { _meta } }, headers: { ...modern, "mcp-method": "Tools/List" }, status: 400, code: -32020, id: 7 },
  { what: "no name header", body: { ...list, method: "tools/call", params: { name: "echo", _meta } }, headers: { ...modern, "mcp-method": "tools/call" }, status: 400, code: -32020, id: 7 },
  {
    what: "another name in the header",
    body: { ...list, method: "tools/call", params: { name: "echo", _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "fail" },
    status: 400,
    code: -32020,
    id: 7,
  },
  {
    what: "a name header with broken base64",
    body: { ...list, method: "tools/call", params: { name: "echo", _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "=?base64?ZWNobw?=" },
    status: 400,
    code: -32020,
    id: 7,
  },
  { what: "initialize with a modern header", body: { ...list, method: "initialize" }, headers: modern, status: 400, code: -32020, id: 7 },
  // Methods
  { what: "an unknown method", body: { ...list, method: "no/such", params: { _meta } }, headers: { ...modern, "mcp-method": "no/such" }, status: 404, code: -32601, id: 7 },
  { what: "a method of the legacy era", body: { ...list, method: "ping", params: { _meta } }, headers: { ...modern, "mcp-method": "ping" }, status: 404, code: -32601, id: 7 },
  // Parameters are judged in the answer itself
  { what: "a cursor that is a number", body: { ...list, params: { _meta, cursor: 5 } }, headers: listHeaders, status: 200, code: -32602, id: 7 },
  { what: "a cursor nobody gave", body: { ...list, params: { _meta, cursor: "zzz" } }, headers: listHeaders, status: 200, code: -32602, id: 7 },
  { what: "a call without a name", body: { ...list, method: "tools/call", params: { _meta } }, headers: { ...modern, "mcp-method": "tools/call" }, status: 200, code: -32602, id: 7 },
  {
    what: "arguments that are a list",
    body: { ...list, method: "tools/call", params: { name: "echo", arguments: [], _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "a state that is a number",
    body: { ...list, method: "tools/call", params: { name: "echo", requestState: 1, _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "responses that are null",
    body: { ...list, method: "tools/call", params: { name: "echo", inputResponses: null, _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  {
    what: "a response that is a number",
    body: { ...list, method: "tools/call", params: { name: "echo", inputResponses: { a: 1 }, _meta } },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" },
    status: 200,
    code: -32602,
    id: 7,
  },
  { what: "a listen without a filter", body: { ...list, method: "subscriptions/listen", params: { _meta } }, headers: { ...modern, "mcp-method": "subscriptions/listen" }, status: 200, code: -32602, id: 7 },
  {
    what: "a listen for URIs that are numbers",
    body: { ...list, method: "subscriptions/listen", params: { _meta, notifications: { resourceSubscriptions: [1] } } },
    headers: { ...modern, "mcp-method": "subscriptions/listen" },
    status: 200,
    code: -32602,
    id: 7,
  },
];

describe("malformed input gets the right status and code, and the id where it can be read", () => {
  test.each(CASES)("$what → $status $code", async ({ body, headers, status, code, id }) => {
    const raw = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await (await server.post(raw, headers)).whole();
    expect(answer.status).toBe(status);
    expect(answer.messages).toHaveLength(1);
    expect(answer.last).toMatchObject({ jsonrpc: "2.0", error: { code } });
    if (id !== undefined) expect(answer.last["id"]).toBe(id);
    expect(server.hub.calls).toHaveLength(0);
  });

  test("C2: an unknown version is told which are spoken and which one it named", async () => {
    const headers = { "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" };
    const params = { _meta: { ..._meta, [META.protocolVersion]: "2099-01-01" } };
    const answer = await (await server.post(JSON.stringify({ ...list, params }), headers)).whole();
    expect(answer.last).toMatchObject({ error: { data: { supported: [REVISION], requested: "2099-01-01" } } });
  });

  test("a missing envelope is told which keys it lacks", async () => {
    const answer = await (await server.post(JSON.stringify({ ...list, params: { _meta: {} } }), listHeaders)).whole();
    expect(answer.last).toMatchObject({ error: { data: { envelope: { missing: [META.protocolVersion, META.clientCapabilities] } } } });
  });

  test("C17: a modern notification is 202 without a body, known or not", async () => {
    for (const method of ["notifications/cancelled", "notifications/whatever"]) {
      const answer = await (await server.post(JSON.stringify({ jsonrpc: "2.0", method, params: { _meta } }), modern)).whole();
      expect([answer.status, answer.text]).toEqual([202, ""]);
    }
  });

  test("a notification whose header names another method is refused", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { _meta } });
    const answer = await (await server.post(body, { ...modern, "mcp-method": "other" })).whole();
    expect([answer.status, answer.last]).toMatchObject([400, { error: { code: -32020 } }]);
  });

  test.each(["PUT", "PATCH", "OPTIONS"])("C7: %s is 405", async (method) => {
    const answer = await (await server.post("", {}, "", method)).whole();
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET, POST, DELETE"]);
  });

  test("members named __proto__ and constructor are data like any other", async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"text":"no"},"text":"yes"},"_meta":${JSON.stringify(_meta)}}}`;
    const answer = await (await server.post(body, { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" })).whole();
    expect(answer.last).toMatchObject({ result: { content: [{ text: "yes" }] } });
    expect(({} as Record<string, unknown>)["text"]).toBeUndefined();
  });
});

describe("an endpoint of the modern era alone", () => {
  test.each([
    [list, 400, -32022, 7],
    [{ jsonrpc: "2.0", id: "i", method: "initialize", params: {} }, 400, -32022, "i"],
    [[list], 400, -32600, null],
    [{ jsonrpc: "2.0", id: 1, result: {} }, 400, -32600, null],
  ])("C2: %j of the legacy era is %d with %d", async (body, status, code, id) => {
    const answer = await (await server.post(JSON.stringify(body))).whole();
    expect([answer.status, answer.last]).toMatchObject([status, { id, error: { code } }]);
  });

  test("a legacy notification is accepted and dropped, GET and DELETE are 405", async () => {
    expect((await (await server.post('{"jsonrpc":"2.0","method":"notifications/initialized"}')).whole()).status).toBe(202);
    for (const method of ["GET", "DELETE"]) expect((await (await server.post("", {}, "", method)).whole()).status).toBe(405);
  });
});

describe("both eras on one path", () => {
  const seen: string[] = [];

  beforeEach(async () => {
    seen.length = 0;
    await server[Symbol.asyncDispose]();
    server = await ModernServer.start({
      legacy: {
        post: async ({ response, mode }, body) => {
          seen.push(`post ${JSON.stringify(body)} ${mode ?? "-"}`);
          response.writeHead(202).end();
        },
        get: ({ response }) => {
          seen.push("get");
          response.writeHead(200).end();
        },
        delete: ({ response }) => {
          seen.push("delete");
          response.writeHead(200).end();
        },
      },
    });
  });

  test.each([
    ["initialize", { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }, {}],
    ["a request with a legacy header", list, { "mcp-protocol-version": "2025-06-18" }],
    ["a request with a header of no known revision", list, { "mcp-protocol-version": "1999-01-01" }],
    ["a request without any header", list, {}],
    ["a reply", { jsonrpc: "2.0", id: 1, result: {} }, {}],
    ["a notification", { jsonrpc: "2.0", method: "notifications/initialized" }, {}],
    ["a batch", [list], {}],
    ["initialize that names a modern revision in its params", { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: REVISION } }, {}],
  ])("%s goes to the legacy era", async (_what, body, headers) => {
    await (await server.post(JSON.stringify(body), headers)).whole();
    expect(seen).toEqual([`post ${JSON.stringify(body)} -`]);
  });

  test("GET and DELETE go to the legacy era", async () => {
    await (await server.post("", {}, "", "GET")).whole();
    await (await server.post("", {}, "", "DELETE")).whole();
    expect(seen).toEqual(["get", "delete"]);
  });

  test("the mode that a legacy request names goes with it", async () => {
    await (await server.post(JSON.stringify(list), { "x-mcp-tool-mode": "Discovery" })).whole();
    expect(seen).toEqual([`post ${JSON.stringify(list)} discovery`]);
  });

  test("a modern request never reaches the legacy era, broken or not", async () => {
    await server.ask("tools/list");
    await (await server.post(JSON.stringify({ ...list, params: { _meta: { [META.protocolVersion]: 5 } } }))).whole();
    expect(seen).toEqual([]);
  });

  test("an initialize with a whole modern envelope is a modern request, and that era has no such method", async () => {
    const answer = await server.ask("initialize", {});
    expect([answer.status, answer.last]).toMatchObject([404, { error: { code: -32601 } }]);
    expect(seen).toEqual([]);
  });
});
