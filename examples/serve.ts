// A program that serves its hub on HTTP, with tokens of different rights, and calls it as a client.
//   npm run build && node --import ./packages/toolyard/dist/runtimes/typescript/register.js examples/serve.ts
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createHub } from "toolyard";

const modules = fileURLToPath(new URL("yard/modules", import.meta.url));
const hub = await createHub({
  settings: {
    server: {
      port: 0,
      tokens: {
        admin: { token: "a-token-that-may-do-all" },
        reader: { token: "a-token-for-text-only", allow: ["text.*"] },
      },
    },
    modules: { paths: [modules] },
    logging: { level: "error" },
  },
});

async function toolsOf(endpoint: string, token?: string): Promise<readonly string[] | number> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(endpoint, {
    method: "POST",
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }),
  });
  if (!response.ok) return response.status;
  const { result } = (await response.json()) as { result: { tools: { name: string }[] } };
  return result.tools.map(({ name }) => name);
}

try {
  const { endpoint } = await hub.serve();
  assert.equal(await toolsOf(endpoint), 401);
  const all = await toolsOf(endpoint, "a-token-that-may-do-all");
  assert.ok(Array.isArray(all) && all.includes("clock.now") && all.includes("text.statistics"));
  const some = await toolsOf(endpoint, "a-token-for-text-only");
  assert.ok(Array.isArray(some) && !some.includes("clock.now") && some.includes("text.statistics"));
  console.log(`the admin sees ${all.join(", ")}; the reader sees ${some.join(", ")}`);
} finally {
  await hub.close();
}
