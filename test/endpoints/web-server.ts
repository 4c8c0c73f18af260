import type { IncomingMessage, ServerResponse } from "node:http";
import { stringifyExact } from "../../packages/toolyard/src/core/json/exact-json.ts";
import { readJson, sendJson, startServer, type RunningServer } from "../fixtures/http-servers.ts";
import { SEARXNG_JSON } from "../fixtures/web-search/pages.ts";

type Call = (args: Record<string, unknown>) => object | Promise<object>;

const said = (value: object): object => ({
  content: [{ type: "text", text: stringifyExact(value) }],
  structuredContent: value,
});
const CALLS: Readonly<Record<string, Call>> = {
  "say.there": (args) => said(args),
  twin: () => said({ which: "the other of two" }),
  waits: async ({ ms }) => {
    await new Promise((resolve) => setTimeout(resolve, Number(ms)));
    return said({ waited: ms });
  },
};

/** Replaces SearXNG for the default tool `internet_search`. */
function answerGet({ url }: IncomingMessage, response: ServerResponse): void {
  if (url?.includes("format=json")) sendJson(response, 200, SEARXNG_JSON);
  else response.writeHead(405).end();
}

/**
 * Starts a server on HTTP, without the SDK and sessions. A locked server lists its tools and requires a sign-in for
 * every call; `busy` rejects each call with a rate limit.
 */
export function startWeb(tools: readonly string[], { locked = false, port = 0 } = {}): Promise<RunningServer> {
  return startServer(
    async (request, response) => {
      if (request.method !== "POST") return answerGet(request, response);
      const { id, method, params } = await readJson(request);
      const result = (value: object): void => sendJson(response, 200, { jsonrpc: "2.0", id, result: value });
      if (method === "initialize")
        return result({
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "web", version: "1" },
        });
      if (id === undefined) return void response.writeHead(202).end();
      if (method === "tools/list")
        return result({
          tools: tools.map((name) => ({ name, description: `The tool ${name}.`, inputSchema: { type: "object" } })),
        });
      if (method !== "tools/call")
        return sendJson(response, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
      if (params?.["name"] === "busy") return void response.writeHead(429, { "retry-after": "600" }).end();
      if (locked) return void response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return result(await CALLS[String(params?.["name"])]!((params?.["arguments"] ?? {}) as Record<string, unknown>));
    },
    { port },
  );
}
