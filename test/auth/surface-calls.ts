import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

type Headers = Readonly<Record<string, string>>;

/** Returns the credentials of one request, as headers. */
export type Credentials = (method: string, path: string) => Headers | Promise<Headers>;

/** The same operation on each surface: a tool call. */
export const SURFACES: Readonly<Record<string, (toy: ToyHub, tool: string, by: Credentials) => Promise<Response>>> = {
  "MCP, legacy": async (toy, tool, by) => {
    const send = async (message: JsonObject, more: Headers = {}): Promise<Response> =>
      toy.fetch("/mcp", {
        method: "POST",
        headers: { ...JSON_HEADERS, ...more, ...(await by("POST", "/mcp")) },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
      });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const begun = await send({ method: "initialize", params });
    const id = begun.headers.get("mcp-session-id");
    if (id === null) return begun;
    return send({ method: "tools/call", params: { name: tool, arguments: {} } }, { "mcp-session-id": id });
  },
  "MCP, modern": async (toy, tool, by) =>
    toy.fetch("/mcp", {
      method: "POST",
      headers: {
        ...JSON_HEADERS,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
        ...(await by("POST", "/mcp")),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: tool, arguments: {}, _meta: ENVELOPE },
      }),
    }),
  REST: async (toy, tool, by) => toy.call(tool, {}, await by("POST", `/api/tools/${tool}`)),
  "JSON-RPC": async (toy, tool, by) =>
    toy.fetch("/jsonrpc", {
      method: "POST",
      headers: { ...JSON_HEADERS, ...(await by("POST", "/jsonrpc")) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: tool, params: {} }),
    }),
};

/** Returns the parameters of the challenge with a scheme. */
export function challengeOf(response: Response, scheme: "Bearer" | "DPoP" = "Bearer"): Record<string, string> {
  const header = response.headers.get("www-authenticate") ?? "";
  const own = header.split(/, (?=(?:Bearer|DPoP) )/).find((one) => one.startsWith(`${scheme} `)) ?? "";
  return Object.fromEntries(Array.from(own.matchAll(/([a-z_]+)="([^"]*)"/g), ([, name, value]) => [name!, value!]));
}
