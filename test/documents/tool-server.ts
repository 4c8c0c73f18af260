import type { RequestListener } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { startServer, type RunningServer } from "../fixtures/http-servers.ts";

export interface ServedTool {
  readonly schema?: JsonObject;
  readonly outputSchema?: JsonObject;
  /**
   * Returns the tool's result: its text is JSON unless the value is a string. With an output schema it has structured
   * content.
   */
  readonly run: (args: JsonObject) => unknown;
}

export type ServedTools = Readonly<Record<string, ServedTool | ServedTool["run"]>>;

/** Starts an HTTP server of both eras, built with the official SDK, with tools that the test defines. */
export async function startTools(
  tools: ServedTools,
  options: {
    readonly port?: number;
    readonly path?: string;
    readonly token?: string;
    readonly before?: RequestListener;
  } = {},
): Promise<RunningServer> {
  const handler = createMcpHandler(() => buildServer(tools), { legacy: "stateless" });
  const handle = toNodeHandler(handler) as RequestListener;
  const { port = 0, path = "/mcp", token, before } = options;
  const running = await startServer(
    (request, response) => {
      before?.(request, response);
      if (response.writableEnded || response.destroyed) return;
      if (
        token !== undefined &&
        request.headers.authorization !== `Bearer ${token}` &&
        request.headers["x-api-key"] !== token
      )
        return void response.writeHead(401).end();
      if (request.url !== path) return void response.writeHead(404).end("Not found");
      return handle(request, response);
    },
    { port, path },
  );
  const close = async (): Promise<void> => {
    await handler.close();
    await running.close();
  };
  return { ...running, close, [Symbol.asyncDispose]: close };
}

function buildServer(tools: ServedTools): McpServer {
  const server = new McpServer({ name: "tools", version: "1.0.0" }, { capabilities: { tools: {} } });
  for (const [name, given] of Object.entries(tools)) {
    const { schema = { type: "object" }, outputSchema, run } = typeof given === "function" ? { run: given } : given;
    const shape = {
      description: `Tool ${name}.`,
      inputSchema: fromJsonSchema(schema as never),
      ...(outputSchema ? { outputSchema: fromJsonSchema(outputSchema as never) } : {}),
    };
    server.registerTool(
      name,
      shape as never,
      (async (args: JsonObject) => {
        const value = await run(args);
        const text = typeof value === "string" ? value : JSON.stringify(value);
        return { content: [{ type: "text", text }], ...(outputSchema ? { structuredContent: value } : {}) };
      }) as never,
    );
  }
  return server;
}

/** Returns a port of 127.0.0.1 without a listener. */
export async function closedPort(): Promise<number> {
  const server = await startServer((_request, response) => void response.end());
  await server.close();
  return server.port;
}
