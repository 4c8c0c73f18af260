import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sendEmpty } from "../../http/answer/send.ts";
import { META } from "../../wire/modern/envelope.ts";
import { MALFORMED_POSTS } from "../../../../../test/support/malformed.ts";
import { envelope, ModernServer, REVISION } from "../../../../../test/support/modern-server.ts";

let server: ModernServer;

beforeEach(async () => {
  server = await ModernServer.start();
});

afterEach(() => server[Symbol.asyncDispose]());

const modern = { "mcp-protocol-version": REVISION };
const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };
const listHeaders = { ...modern, "mcp-method": "tools/list" };
const _meta = envelope();

describe("answers malformed input with the specified status and code, and with the id if it is readable", () => {
  test.each(MALFORMED_POSTS)("$what → $status $code", async ({ body, headers, status, code, id }) => {
    const raw = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await (await server.post(raw, headers)).whole();
    expect(answer.status).toBe(status);
    expect(answer.messages).toHaveLength(1);
    expect(answer.last).toMatchObject({ jsonrpc: "2.0", error: { code } });
    if (id !== undefined) expect(answer.last["id"]).toBe(id);
    expect(server.hub.calls).toHaveLength(0);
  });

  test("C2: for an unknown version, names the supported versions and the received one", async () => {
    const headers = { "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" };
    const params = { _meta: { ..._meta, [META.protocolVersion]: "2099-01-01" } };
    const answer = await (await server.post(JSON.stringify({ ...list, params }), headers)).whole();
    expect(answer.last).toMatchObject({ error: { data: { supported: [REVISION], requested: "2099-01-01" } } });
  });

  test("names the missing keys of an envelope", async () => {
    const answer = await (await server.post(JSON.stringify({ ...list, params: { _meta: {} } }), listHeaders)).whole();
    expect(answer.last).toMatchObject({
      error: { data: { envelope: { missing: [META.protocolVersion, META.clientCapabilities] } } },
    });
  });

  test("C17: answers 202 without a body to a modern notification, known or unknown", async () => {
    for (const method of ["notifications/cancelled", "notifications/whatever"]) {
      const answer = await (
        await server.post(JSON.stringify({ jsonrpc: "2.0", method, params: { _meta } }), modern)
      ).whole();
      expect([answer.status, answer.text]).toEqual([202, ""]);
    }
  });

  test("refuses a notification whose header names another method", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { _meta } });
    const answer = await (await server.post(body, { ...modern, "mcp-method": "other" })).whole();
    expect([answer.status, answer.last]).toMatchObject([400, { error: { code: -32020 } }]);
  });

  test.each(["PUT", "PATCH", "OPTIONS"])("C7: answers 405 to %s", async (method) => {
    const answer = await (await server.post("", {}, "", method)).whole();
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET, POST, DELETE"]);
  });

  test("treats members named __proto__ and constructor as data", async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"text":"no"},"text":"yes"},"_meta":${JSON.stringify(_meta)}}}`;
    const answer = await (
      await server.post(body, { ...modern, "mcp-method": "tools/call", "mcp-name": "echo" })
    ).whole();
    expect(answer.last).toMatchObject({ result: { content: [{ text: "yes" }] } });
    expect(({} as Record<string, unknown>)["text"]).toBeUndefined();
  });
});

describe("endpoint that serves only the modern era", () => {
  test.each([
    [list, 400, -32022, 7],
    [{ jsonrpc: "2.0", id: "i", method: "initialize", params: {} }, 400, -32022, "i"],
    [[list], 400, -32600, null],
    [{ jsonrpc: "2.0", id: 1, result: {} }, 400, -32600, null],
  ])("C2: answers the legacy message %j with status %d and code %d", async (body, status, code, id) => {
    const answer = await (await server.post(JSON.stringify(body))).whole();
    expect([answer.status, answer.last]).toMatchObject([status, { id, error: { code } }]);
  });

  test("accepts and drops a legacy notification, and answers 405 to GET and DELETE", async () => {
    expect((await (await server.post('{"jsonrpc":"2.0","method":"notifications/initialized"}')).whole()).status).toBe(
      202,
    );
    for (const method of ["GET", "DELETE"])
      expect((await (await server.post("", {}, "", method)).whole()).status).toBe(405);
  });
});

describe("both eras at one path", () => {
  const seen: string[] = [];

  beforeEach(async () => {
    seen.length = 0;
    await server[Symbol.asyncDispose]();
    server = await ModernServer.start({
      legacy: {
        post: async ({ http, head: { mode } }, body) => {
          seen.push(`post ${JSON.stringify(body)} ${mode ?? "-"}`);
          sendEmpty(http.answer, 202);
        },
        get: ({ http }) => {
          seen.push("get");
          sendEmpty(http.answer, 200);
        },
        delete: ({ http }) => {
          seen.push("delete");
          sendEmpty(http.answer, 200);
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
    [
      "initialize that names a modern revision in its params",
      { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: REVISION } },
      {},
    ],
  ])("passes %s to the legacy era", async (_what, body, headers) => {
    await (await server.post(JSON.stringify(body), headers)).whole();
    expect(seen).toEqual([`post ${JSON.stringify(body)} -`]);
  });

  test("passes GET and DELETE to the legacy era", async () => {
    await (await server.post("", {}, "", "GET")).whole();
    await (await server.post("", {}, "", "DELETE")).whole();
    expect(seen).toEqual(["get", "delete"]);
  });

  test("passes the tool mode of a legacy request on", async () => {
    await (await server.post(JSON.stringify(list), { "x-mcp-tool-mode": "Discovery" })).whole();
    expect(seen).toEqual([`post ${JSON.stringify(list)} discovery`]);
  });

  test("never passes a modern request to the legacy era, even if it is invalid", async () => {
    await server.ask("tools/list");
    await (await server.post(JSON.stringify({ ...list, params: { _meta: { [META.protocolVersion]: 5 } } }))).whole();
    expect(seen).toEqual([]);
  });

  test("treats an initialize with a full modern envelope as a modern request with an unknown method", async () => {
    const answer = await server.ask("initialize", {});
    expect([answer.status, answer.last]).toMatchObject([404, { error: { code: -32601 } }]);
    expect(seen).toEqual([]);
  });
});
