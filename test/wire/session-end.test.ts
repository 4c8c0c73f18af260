// DELETE of a session during a call: the hub ends the call's stream like the official server.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub } from "../../packages/toolyard/src/index.ts";
import { createGate } from "../fixtures/hub-stand-in.ts";
import { startLegacy } from "../fixtures/http-servers.ts";

interface SlowServer {
  readonly url: string;
  /** Resolves when the call has arrived. */
  readonly begun: Promise<unknown>;
}

async function startOfficial(): Promise<SlowServer> {
  const begun = createGate();
  const build = (): Server => {
    const server = new Server({ name: "official", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(CallToolRequestSchema, () => {
      begun.open();
      return new Promise<never>(() => {});
    });
    return server;
  };
  const server = await startLegacy({ build });
  onTestFinished(() => server.close());
  return { url: server.url, begun: begun.opened };
}

async function startHub(): Promise<SlowServer> {
  const begun = createGate();
  const hub = await createHub({
    settings: { server: { port: 0 }, builtin: { execute_code: false } },
    variables: {},
    logger: SILENT_LOGGER,
    registerTools: (tools) => {
      const wait = (_args: object, { signal }: { readonly signal: AbortSignal }): Promise<string> =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve("late"));
          begun.open();
        });
      tools.registerTool("slow", wait, {}, "Waits.");
    },
  });
  onTestFinished(() => hub.close());
  return { url: (await hub.serve()).endpoint, begun: begun.opened };
}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Returns the status and the event data that a call receives when its session is deleted. */
async function answerAfterDelete({ url, begun }: SlowServer): Promise<unknown> {
  const post = (message: object, more: Record<string, string> = {}): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return fetch(url, { method: "POST", headers: { ...HEADERS, ...more }, body });
  };
  const clientInfo = { name: "t", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const opened = await post({ id: 0, method: "initialize", params });
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
  await post({ method: "notifications/initialized" }, session);
  const calling = post({ id: 1, method: "tools/call", params: { name: "slow", arguments: {} } }, session);
  await begun;
  const deleted = await fetch(url, { method: "DELETE", headers: session });
  const answer = await calling;
  const data = (await answer.text()).split("\n").filter((line) => line.startsWith("data:"));
  return { deleted: deleted.status, status: answer.status, type: answer.headers.get("content-type"), data };
}

test("the stream of a call ends without a message on the official server and on the hub", async () => {
  const expected = { deleted: 200, status: 200, type: "text/event-stream", data: [] };
  expect(await answerAfterDelete(await startOfficial())).toEqual(expected);
  expect(await answerAfterDelete(await startHub())).toEqual(expected);
});
