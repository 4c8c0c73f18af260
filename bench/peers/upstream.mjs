// The single client of a gateway in this folder, for all callers: `node gateway.mjs <url>` or `node gateway.mjs
// <command> [argument …]`.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

export async function connectUpstream([first, ...args]) {
  const client = new Client({ name: "gateway", version: "1" });
  await client.connect(
    first.startsWith("http://")
      ? new StreamableHTTPClientTransport(new URL(first))
      : new StdioClientTransport({ command: first, args }),
  );
  return client;
}
