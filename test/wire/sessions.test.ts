// Lost sessions of upstream servers, for each way to report them, and revisions that are refused by a text.
import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { saysSessionLost } from "../../packages/toolyard/src/upstream/transports/http/session-loss.ts";
import { readJson, startServer } from "../fixtures/http-servers.ts";

import { linesFor } from "../fixtures/upstreams/odd.mjs";
import { openRemote, type OddServer } from "../fixtures/upstreams/odd.ts";

const FINE = { ok: true, result: { content: [{ type: "text", text: "fine" }] } };
const error = (message: string, code = -32001, id: unknown = null): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });

/** Response with which a server reports an unknown session. */
interface Report {
  readonly status: number;
  readonly type?: string;
  body(id: unknown): string;
}

const json = (status: number, message: string): Report => ({ status, body: (id) => error(message, -32001, id) });
const text = (status: number, body: string): Report => ({ status, type: "text/plain", body: () => body });

const REPORTS: [string, Report][] = [
  ["404", text(404, "")],
  ["404 with an error", json(404, "Session not found")],
  ["410", text(410, "Gone")],
  ["400", json(400, "Bad Request: No valid session ID provided")],
  ["400 with a text", text(400, "Invalid session ID")],
  ["409", json(409, "Session expired")],
  ["500", json(500, "Internal error: unknown session")],
  ["500 with a text", text(500, "Session not found: s1")],
  ["500 with other JSON", { status: 500, body: () => '{"detail":"The session has been terminated"}' }],
  ["503", json(503, "Session is no longer available on this instance")],
  ["200 with an error", json(200, "Session not found or expired")],
  ["200 with an error without an id", { status: 200, body: () => error("Invalid MCP session") }],
  ["200 with a text", text(200, "No such session")],
  ["200 with other JSON", { status: 200, body: () => '{"error":"session does not exist"}' }],
  [
    "200 with a stream",
    { status: 200, type: "text/event-stream", body: (id) => `data: ${error("Session not found", -32000, id)}\n\n` },
  ],
  ["200 by a server without ids", json(200, "Server not initialized")],
];

interface Forgetful extends AsyncDisposable {
  readonly source: OddServer;
  readonly initialized: () => number;
  /** Number of calls that the server began to process. */
  readonly worked: () => number;
  forget(): void;
}

/** Starts a server that answers calls in its newest session, and rejects other sessions as `report` defines. */
async function startForgetful(report: Report, { hasIds = true, always = false } = {}): Promise<Forgetful> {
  let initialized = 0;
  let worked = 0;
  let isForgotten = false;
  const server = await startServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(request.method === "DELETE" ? 200 : 405).end();
    const message = (await readJson(request)) as JsonObject;
    const { method, id } = message;
    if (method === "initialize") {
      initialized += 1;
      isForgotten = false;
    } else if (isForgotten || (always && method === "tools/call")) return send(response, report, id);
    if (id === undefined) return response.writeHead(202).end();
    if (method === "tools/call") worked += 1;
    const headers = hasIds ? { "mcp-session-id": `s${initialized}` } : {};
    return response
      .writeHead(200, { "content-type": "application/json", ...headers })
      .end(linesFor(message, { era: "legacy" })[0]);
  });
  const source = openRemote(server.url);
  return {
    source,
    initialized: () => initialized,
    worked: () => worked,
    forget: () => void (isForgotten = true),
    [Symbol.asyncDispose]: async () => {
      await source[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

function send(response: ServerResponse, { status, type = "application/json", body }: Report, id: unknown): void {
  response.writeHead(status, { "content-type": type }).end(body(id));
}

describe("a session that the server lost", () => {
  test.each(REPORTS)("is reopened once, and the call is answered, if %s reports it", async (name, report) => {
    await using server = await startForgetful(report, { hasIds: !name.includes("without ids") });
    expect(await server.source.call("fine")).toMatchObject(FINE);
    for (let loss = 1; loss <= 2; loss += 1) {
      const before = server.initialized();
      server.forget();
      expect(await server.source.call("fine")).toMatchObject(FINE);
      expect(server.initialized()).toBe(before + 1);
    }
    expect(server.worked()).toBe(3);
  });

  test("is reopened once for many concurrent calls, each of which is answered", async () => {
    await using server = await startForgetful(json(500, "Session not found"));
    expect(await server.source.call("fine")).toMatchObject(FINE);
    server.forget();
    const calls = await Promise.all(Array.from({ length: 20 }, () => server.source.call("fine")));
    for (const outcome of calls) expect(outcome).toMatchObject(FINE);
    expect(server.initialized()).toBe(2);
    expect(server.worked()).toBe(21);
  });

  test.each([
    ["an error of the server's own", json(200, "Browser session not found: open one first"), { kind: "tool_error" }],
    ["HTTP 500", text(500, "Session not found"), { kind: "unavailable" }],
    ["HTTP 410", text(410, "Gone"), { kind: "unavailable" }],
  ])("is reopened once for a call that always gets %s, which the caller then receives", async (_, report, expected) => {
    await using server = await startForgetful(report, { always: true });
    await server.source.provider.listing();
    expect(server.initialized()).toBe(1);
    expect(await server.source.call("fine")).toMatchObject({ ok: false, ...expected });
    expect(server.initialized()).toBe(2);
  });

  test.each([
    ["a second stream", 409, error("Conflict: Only one SSE stream is allowed per session")],
    ["a database that is not ready", 500, error("Database not initialized")],
    ["a limit of sessions", 503, "Service Unavailable: too many sessions"],
    ["a result", 200, JSON.stringify({ jsonrpc: "2.0", id: 1, result: { text: "Session not found" } })],
    ["something else that is absent", 200, error("The file was not found")],
    ["a refusal of rights", 403, "Session not found"],
    ["a long page", 500, `${"x".repeat(5000)} session not found`],
  ])("is not assumed for %s", (_, status, body) => {
    expect(saysSessionLost({ status, body, hasSession: true })).toBe(false);
  });

  test.each([404, 410, 400, 500, 200])("is not assumed for %i without a session id", (status) => {
    expect(saysSessionLost({ status, body: "Session not found", hasSession: false })).toBe(false);
  });
});

/** A server's answers to requested revisions. */
interface Versions {
  /** Returns true for revisions that `initialize` accepts. */
  readonly accepts: (revision: string) => boolean;
  /** Returns true for revisions that are accepted in the header of later messages. */
  readonly acceptsHeader?: (revision: string) => boolean;
  readonly answers?: (asked: string) => string;
  readonly refusal: string;
}

async function startVersioned({
  accepts,
  acceptsHeader = () => true,
  answers = (asked) => asked,
  refusal,
}: Versions): Promise<OddServer & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = await startServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const message = (await readJson(request)) as JsonObject;
    const refuse = (): unknown => response.writeHead(400, { "content-type": "text/plain" }).end(refusal);
    const header = request.headers["mcp-protocol-version"] as string | undefined;
    if (header !== undefined && (header === "2026-07-28" || !acceptsHeader(header))) return refuse();
    const revision = String((message["params"] as JsonObject | undefined)?.["protocolVersion"]);
    if (message["method"] === "initialize") asked.push(revision);
    if (message["method"] === "initialize" && !accepts(revision)) return refuse();
    if (message["id"] === undefined) return response.writeHead(202).end();
    const list = message["method"] === "initialize" ? { list: { protocolVersion: answers(revision) } } : {};
    const [line] = linesFor(message, { era: "legacy", ...list });
    return response.writeHead(200, { "content-type": "application/json" }).end(line);
  });
  onTestFinished(() => server.close());
  return { ...openRemote(server.url), asked };
}

describe("a server that refuses a revision by HTTP 400 and a text", () => {
  test.each<[string, Versions, string[]]>([
    ["in the header of the probe", { accepts: () => true, refusal: "Unsupported protocol version" }, ["2025-11-25"]],
    [
      "in `initialize`, naming others",
      {
        accepts: (revision) => revision <= "2025-06-18",
        refusal: "Unsupported protocol version 2025-11-25 (supported: 2025-03-26, 2025-06-18)",
      },
      ["2025-11-25", "2025-06-18"],
    ],
    [
      "in `initialize`, naming none",
      { accepts: (revision) => revision === "2024-11-05", refusal: "Bad Request: unsupported MCP protocol version" },
      ["2025-11-25", "2024-11-05"],
    ],
    [
      "in the header of what follows a revision that it agreed to",
      {
        accepts: () => true,
        acceptsHeader: (revision) => revision <= "2025-06-18",
        refusal: "MCP-Protocol-Version must be one of 2025-03-26, 2025-06-18",
      },
      ["2025-11-25", "2025-06-18"],
    ],
    [
      "in `initialize`, as a JSON text of its own",
      { accepts: (revision) => revision === "2025-03-26", refusal: '{"error":"protocolVersion: use 2025-03-26"}' },
      ["2025-11-25", "2025-03-26"],
    ],
  ])("%s is asked again with another revision, and works", async (_, versions, asked) => {
    await using server = await startVersioned(versions);
    expect(await server.call("fine")).toMatchObject(FINE);
    expect(new Set(server.asked)).toEqual(new Set(asked));
  });

  test("in every revision is reported with its status, after two attempts", async () => {
    await using server = await startVersioned({ accepts: () => false, refusal: "Unsupported protocol version" });
    expect(await server.call("fine")).toMatchObject({
      ok: false,
      kind: "unavailable",
      message: expect.stringContaining("HTTP 400"),
    });
    expect(server.asked.slice(0, 2)).toEqual(["2025-11-25", "2024-11-05"]);
  });
});
