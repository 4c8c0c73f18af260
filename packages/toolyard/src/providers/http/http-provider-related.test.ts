import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { makeCall, SOURCE } from "../../../../../test/fixtures/upstreams/harness.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { createHttpProvider } from "./http-provider.ts";
import { resolveRemoteServer } from "./options.ts";

const QUESTION = { id: 77, method: "elicitation/create", params: { message: "of the first caller" } };
const LOG = { method: "notifications/message", params: { level: "info", data: "of the first caller" } };

/**
 * Starts a legacy server on Streamable HTTP that keeps sending requests and logs on the stream of a cancelled call.
 */
async function start() {
  const streams = new Map<string, ServerResponse>();
  const waiting = new Map<string, () => void>();
  let onReply = (_reply: JsonObject): void => {};
  const replied = new Promise<JsonObject>((resolve) => (onReply = resolve));
  const say = (name: string, message: JsonObject): void =>
    void streams.get(name)!.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    for await (const piece of request) body += String(piece);
    const { id, method, params } = JSON.parse(body) as { id?: number; method?: string; params?: JsonObject };
    const answer = (result: JsonObject): void =>
      void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (method === "initialize")
      return answer({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      });
    if (method === "tools/list") return answer({ tools: [] });
    if (method === "tools/call") {
      const name = String(params!["name"]);
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      streams.set(name, response);
      return waiting.get(name)?.();
    }
    if (method === undefined) onReply(JSON.parse(body) as JsonObject);
    if (method === "notifications/cancelled" && streams.has("first")) {
      say("first", LOG);
      say("first", QUESTION);
      await replied;
    }
    response.writeHead(202).end();
  };
  const server = createServer((request, response) => void take(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    replied,
    reached: (name: string) => new Promise<void>((resolve) => void waiting.set(name, resolve)),
    close: () => (server.closeAllConnections(), server.close()),
  };
}

test("delivers no message from an ended call's stream to another call, and refuses its server requests", async () => {
  const server = await start();
  const provider = createHttpProvider({
    source: { ...SOURCE, kind: "http" },
    options: resolveRemoteServer({ url: server.url }),
    environment: {},
    hideFor: () => {},
    logger: SILENT_LOGGER,
  });
  const [endFirst, endOther] = [new AbortController(), new AbortController()];
  const told: unknown[] = [];
  const client = (connection: string) => ({ connection, era: "legacy" as const, capabilities: { elicitation: {} } });
  const onAsk = async ({ method }: { method: string }): Promise<JsonObject> => (
    told.push(method),
    { action: "accept" }
  );
  const other = makeCall(
    "other",
    {},
    {
      principal: "other",
      client: client("other"),
      signal: endOther.signal,
      onNotice: ({ method }) => told.push(method),
      onAsk,
    },
  );
  const first = makeCall("first", {}, { principal: "first", client: client("first"), signal: endFirst.signal });
  try {
    provider.open();
    const reached = [server.reached("other"), server.reached("first")] as const;
    const others = provider.call(other);
    await reached[0];
    const firsts = provider.call(first);
    await reached[1];
    endFirst.abort();
    await firsts;
    expect(await server.replied).toMatchObject({ id: QUESTION.id, error: { code: -32603 } });
    expect(told).toEqual([]);
    endOther.abort();
    await others;
  } finally {
    for (const { deadline } of [first, other]) deadline.clear();
    await provider.close();
    server.close();
  }
});
