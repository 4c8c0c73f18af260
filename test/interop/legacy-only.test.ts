// An endpoint that serves only the legacy era: clients of both eras use it with its legacy features.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { serveHub, type ServedHub } from "../fixtures/served-hub.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
const mcp: HubConfig["mcp"] = {
  stdio_servers: { legacy: { command: [process.execPath, fixture("legacy"), "logging"], namespace: "" } },
};

/** Connects the v2 SDK's client, which tries 2026-07-28 first. */
async function connect(transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<Client> {
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

const overHttp = (url: string): Promise<Client> => connect(new StreamableHTTPClientTransport(new URL(url)));

describe.each(["legacy", "auto"] as const)("[server] era = %s", (era) => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await serveHub({ mcp, server: { era } }, "HTTP");
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  test("applies to clients without an era in their URL", async () => {
    const client = await overHttp(hub.url!);
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "legacy" ? LEGACY : MODERN);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    expect(await client.callTool({ name: "pid", arguments: {} })).toMatchObject({ content: [{ type: "text" }] });
  });

  test.each([
    ["legacy", LEGACY],
    ["auto", MODERN],
    ["LEGACY", LEGACY],
  ])("is overridden by ?era=%s", async (word, revision) => {
    const client = await overHttp(`${hub.url}?era=${word}`);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  });

  test("ignores an unknown era", async () => {
    const client = await overHttp(`${hub.url}?era=modern`);
    expect(client.getNegotiatedProtocolVersion()).toBe(era === "legacy" ? LEGACY : MODERN);
  });

  test("still serves a client of the legacy era", async () => {
    const client = new ClientV1({ name: "v1", version: "1" });
    await client.connect(new HttpV1(new URL(hub.url!)) as Parameters<typeof client.connect>[0]);
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.ping();
  });
});

test("gives a client that falls back ping, log messages outside of calls and list changes", async () => {
  await using hub = await serveHub({ mcp, server: { era: "legacy" } }, "HTTP");
  const client = await overHttp(hub.url!);
  const logged = new Promise<unknown>((resolve) =>
    client.setNotificationHandler("notifications/message", ({ params }) => {
      if (params.data === "outside a call") resolve(params.data);
    }),
  );
  const changed = new Promise<void>((resolve) =>
    client.setNotificationHandler("notifications/tools/list_changed", () => resolve()),
  );
  await client.ping();
  await client.callTool({ name: "log", arguments: {} });
  expect(await logged).toBe("outside a call");
  await client.callTool({ name: "grow", arguments: {} });
  await changed;
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("grown_0");
});

test.each([
  ["[server] era", { server: { era: "legacy" } }, []],
  ["--era", {}, ["--era", "legacy"]],
  ["--era over [server] era", { server: { era: "legacy" } }, ["--era", "auto"]],
] satisfies readonly [string, HubConfig, readonly string[]][])(
  "the era option applies to stdio, too (%s)",
  async (_how, settings, words) => {
    const hub = await serveHub({ mcp, ...settings }, "stdio");
    // Removes the folder only after the client is closed, because the client's process writes into the folder.
    onTestFinished(() => hub[Symbol.asyncDispose]());
    const { command, args, env } = hub.command!;
    const client = await connect(
      new StdioClientTransport({ command, args: [...args, ...words], env, stderr: "ignore" }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(words.includes("auto") ? MODERN : LEGACY);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  },
);

test("a modern request gets the answer that a legacy server gives", async () => {
  await using hub = await serveHub({ mcp, server: { era: "legacy" } }, "HTTP");
  const post = async (body: unknown): Promise<{ status: number; body: string }> => {
    const response = await fetch(hub.url!, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.text() };
  };
  const _meta = { "io.modelcontextprotocol/protocolVersion": MODERN };
  for (const method of ["server/discover", "tools/list", "subscriptions/listen"]) {
    const answer = await post({ jsonrpc: "2.0", id: 1, method, params: { _meta } });
    expect(answer.status, method).toBe(400);
    expect(JSON.parse(answer.body), method).toMatchObject({ error: { code: expect.any(Number) } });
    expect(answer.body).not.toContain("-32022");
  }
  expect((await post([])).status).toBe(400);
  expect((await post({ id: 1 })).status).toBe(400);
});
