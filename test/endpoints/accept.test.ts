// Media types that a client accepts, on whole hubs: both eras, with one process and with workers.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { openTarget, openUpstream, sendRaw, tool, type Target, type Upstream } from "../security/attack.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** `Accept` header and the media type of the answer to it; undefined: 406. */
const ACCEPTS: readonly (readonly [accept: string | undefined, type: string | undefined])[] = [
  [undefined, "application/json"],
  ["*/*", "application/json"],
  ["application/json, text/event-stream", "application/json"],
  ["application/json", "application/json"],
  ["application/*;q=0.5", "application/json"],
  ["text/event-stream", "text/event-stream"],
  ["text/*", "text/event-stream"],
  ["application/json;q=0, */*", "text/event-stream"],
  ["text/html", undefined],
  ["application/json;q=0", undefined],
];

describe.each([1, 2])("with %i process(es)", (workers) => {
  let upstream: Upstream;
  let target: Target;

  beforeAll(async () => {
    upstream = await openUpstream({ tools: [tool("echo")] });
    target = await openTarget({
      server: { workers },
      mcp: { remote_servers: [{ namespace: "far", url: upstream.url }] },
    });
    await target.hub.list();
  });
  afterAll(async () => {
    await target[Symbol.asyncDispose]();
    await upstream.close();
  });

  const post = (accept: string | undefined, message: JsonObject, more: Readonly<Record<string, string>> = {}) =>
    sendRaw(target.port, {
      headers: { "content-type": "application/json", ...(accept !== undefined && { accept }), ...more },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
  const initialize = (accept: string | undefined) =>
    post(accept, {
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    });
  const call = { method: "tools/call", params: { name: "far__echo", arguments: {} } };
  const messageIn = (body: string, type: string | undefined): JsonObject => {
    if (type === "application/json") return JSON.parse(body) as JsonObject;
    return JSON.parse(/^data: (\{.*)$/m.exec(body)![1]!) as JsonObject;
  };

  test.each(ACCEPTS)("the modern era answers Accept %j with %j", async (accept, type) => {
    const { status, headers, body } = await post(
      accept,
      { ...call, params: { ...call.params, _meta: META } },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "far__echo" },
    );
    if (type === undefined) return void expect(status).toBe(406);
    expect([status, headers["content-type"]]).toEqual([200, type]);
    expect(objectMember(messageIn(body, type), "result")).toMatchObject({ content: [{ type: "text" }] });
  });

  test.each(ACCEPTS)("the legacy era answers Accept %j with %j", async (accept, type) => {
    const opened = await initialize(accept);
    if (type === undefined) return void expect(opened.status).toBe(406);
    expect([opened.status, opened.headers["content-type"]]).toEqual([200, type]);
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
    const { status, headers, body } = await post(accept, call, session);
    expect([status, headers["content-type"]]).toEqual([200, type]);
    expect(headers["mcp-session-id"]).toBe(session["mcp-session-id"]);
    // The first event of a stream may be empty; `sendRaw` reads no further.
    if (type === "application/json")
      expect(objectMember(messageIn(body, type), "result")).toMatchObject({ content: [{ type: "text" }] });
  });

  test.each([
    [undefined, 200],
    ["*/*", 200],
    ["text/event-stream", 200],
    ["application/json", 406],
    ["text/html", 406],
  ])("the stream of a legacy session answers Accept %j with %i", async (accept, expected) => {
    const session = String((await initialize("*/*")).headers["mcp-session-id"]);
    const { status } = await sendRaw(target.port, {
      method: "GET",
      headers: { "mcp-session-id": session, ...(accept !== undefined && { accept }) },
    });
    expect(status).toBe(expected);
  });
});
