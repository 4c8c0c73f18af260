// The SDK's clients against the HTTP endpoint: v2 pinned to the modern era, v2 negotiating, v2 legacy and v1.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { LegacyHttp } from "../../packages/toolyard/src/endpoints/mcp/legacy/http.ts";
import { resolveLegacySessions } from "../../packages/toolyard/src/endpoints/mcp/legacy/options.ts";
import { createTestState } from "../fixtures/mcp-endpoint.ts";
import { createSessionDeps } from "../../packages/toolyard/src/endpoints/mcp/legacy/session-deps.ts";
import { ModernServer } from "../support/modern-server.ts";

let server: ModernServer;
let legacy: LegacyHttp;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  // The legacy part needs the hub that the server creates, so it is set afterwards.
  const late = {
    post: (...args: Parameters<LegacyHttp["post"]>) => legacy.post(...args),
    get: (...args: Parameters<LegacyHttp["get"]>) => legacy.get(...args),
    delete: (...args: Parameters<LegacyHttp["delete"]>) => legacy.delete(...args),
  };
  server = await ModernServer.start({ legacy: late });
  const deps = createSessionDeps({
    hub: server.hub,
    logger: SILENT_LOGGER,
    options: resolveLegacySessions(),
    defaultMode: "normal",
    state: createTestState(),
  });
  legacy = new LegacyHttp(deps);
  closers.push(async () => deps.board.close());
});

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  legacy.close();
  await server[Symbol.asyncDispose]();
});

async function connect(mode: VersionNegotiationMode): Promise<Client> {
  const client = new Client(
    { name: "v2", version: "1" },
    { versionNegotiation: { mode }, capabilities: { elicitation: {}, sampling: {} } },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { name: "Ada" } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  closers.push(() => client.close());
  return client;
}

describe.each<[string, VersionNegotiationMode]>([
  ["pinned to 2026-07-28", { pin: "2026-07-28" }],
  ["negotiating", "auto"],
  ["of the legacy era", "legacy"],
])("C2: the v2 client %s", (_what, mode) => {
  test("lists, calls, reads, completes and gets prompts", async () => {
    const client = await connect(mode);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    expect((await client.callTool({ name: "echo", arguments: { text: "hi" } })).content).toEqual([
      { type: "text", text: "hi" },
    ]);
    expect((await client.readResource({ uri: "test://a" })).contents).toMatchObject([{ text: "hello" }]);
    expect((await client.getPrompt({ name: "hello", arguments: { who: "Ada" } })).messages).toHaveLength(1);
    expect(client.getServerVersion()).toMatchObject({ name: "stand-in", version: "1.2.3" });
    expect(client.getInstructions()).toBe("Use echo.");
  });

  test("answers a server request of a running call", async () => {
    const client = await connect(mode);
    const result = await client.callTool({ name: "ask", arguments: {} });
    expect(result.content).toEqual([
      { type: "text", text: JSON.stringify({ action: "accept", content: { name: "Ada" } }) },
    ]);
  });

  test("receives progress", async () => {
    const client = await connect(mode);
    const seen: number[] = [];
    await client.callTool(
      { name: "progress", arguments: { steps: 3 } },
      { onprogress: ({ progress }) => void seen.push(progress) },
    );
    expect(seen.slice(0, 2)).toEqual([1, 2]);
  });

  test("receives a tool's failure, and an error for an unknown tool", async () => {
    const client = await connect(mode);
    expect(await client.callTool({ name: "fail", arguments: {} })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: "nobody", arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  test("cancels a call by aborting it", async () => {
    const client = await connect(mode);
    const caller = new AbortController();
    server.hub.started.on(() => caller.abort(new Error("enough")));
    await expect(client.callTool({ name: "slow", arguments: {} }, { signal: caller.signal })).rejects.toThrow(/enough/);
    await expect.poll(() => server.hub.calls.at(-1)?.signal.aborted).toBe(true);
  });
});

test("C33: a subscription of the pinned v2 client notifies it of a changed list", async () => {
  const client = await connect({ pin: "2026-07-28" });
  const heard = new Promise<void>((resolve) =>
    client.setNotificationHandler("notifications/tools/list_changed", () => resolve()),
  );
  await client.listen({ toolsListChanged: true });
  server.hub.lists.tools = [];
  server.hub.announce("tools");
  await heard;
  expect((await client.listTools()).tools).toEqual([]);
});

test("C2: the v1 client lists and calls next to modern clients", async () => {
  const client = new ClientV1({ name: "v1", version: "1" });
  await client.connect(new TransportV1(new URL(server.url)) as Parameters<typeof client.connect>[0]);
  closers.push(() => client.close());
  const modern = await connect({ pin: "2026-07-28" });
  expect((await client.listTools()).tools).toHaveLength((await modern.listTools()).tools.length);
  expect((await client.callTool({ name: "echo", arguments: { text: "old" } })).content).toEqual([
    { type: "text", text: "old" },
  ]);
});
