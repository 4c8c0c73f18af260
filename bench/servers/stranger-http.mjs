// An MCP server on HTTP with a large list or hostile schemas: `stranger-http.mjs <name of a list or schema>`.
import { createServer } from "node:http";

const members = (count, make) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, make(at)]));
const many = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const nestedUnion = (depth) =>
  depth === 0 ? { const: 1 } : { anyOf: [{ properties: { a: nestedUnion(depth - 1) } }, { const: depth }] };

/** Input schemas, each within a megabyte. */
const SCHEMAS = {
  "9,000 properties with words": {
    properties: members(9000, (at) => ({
      type: "string",
      description: `A property with a short description, number ${at}`,
    })),
  },
  "50,000 properties": { properties: members(50_000, () => ({})) },
  "14,000 branches": { anyOf: many(14_000, (at) => ({ properties: { k: { const: `v${at}` } }, required: ["k"] })) },
  "90,000 values of enum": { properties: { x: { enum: many(90_000, (at) => `value${at}`) } } },
  "9,000 hidden words": {
    properties: members(9000, (at) => ({
      type: "string",
      description: `A property\u200b with a description, number ${at}`,
    })),
  },
  "2,000 plain properties": { properties: members(2000, () => ({ type: "string" })) },
  "1,000 branches of oneOf": { oneOf: many(1000, (at) => ({ properties: { a: { const: at } }, required: ["a"] })) },
  "40 nested unions": { anyOf: many(40, () => nestedUnion(40)) },
  "defaults that double": {
    $defs: members(28, (at) => ({
      properties: { x: { $ref: `#/$defs/p${at + 1}`, default: {} }, y: { $ref: `#/$defs/p${at + 1}`, default: {} } },
    })),
    $ref: "#/$defs/p0",
  },
};

/** Name of the list of a harmless server. */
export const FRIEND = "one plain tool";
const ONE_OF_MANY = "200 tools of 5 KB";
export const STRANGERS = [...Object.keys(SCHEMAS), ONE_OF_MANY];

function toolsOf(name) {
  if (name !== ONE_OF_MANY)
    return [{ name: "big", description: "Big.", inputSchema: { type: "object", ...SCHEMAS[name] } }];
  return many(200, (at) => ({
    name: `tool_${at}`,
    description: `The tool ${at} has a useful effect. `.repeat(8),
    inputSchema: {
      type: "object",
      properties: members(60, (index) => ({ type: "string", description: `A short description of ${index}` })),
    },
  }));
}

function serve(tools) {
  const results = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "stranger", version: "1" },
    },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "called" }] },
  };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    const result = results[method];
    const reply = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

if (process.argv[1].endsWith("stranger-http.mjs")) serve(toolsOf(process.argv[2]));
