// A server for the library document's client: lines of JSON-RPC of 2024-11-05 on stdin and stdout, logs on stderr.
// `node library-server.mjs [record=FILE] [chatty] [silent]`
import { appendFileSync } from "node:fs";

const words = process.argv.slice(2);
const record = words.find((word) => word.startsWith("record="))?.slice("record=".length);
if (words.includes("chatty"))
  for (let line = 0; line < 2000; line += 1) process.stderr.write(`loading model ${line} ${"x".repeat(80)}\n`);

const TOOLS = [
  {
    name: "search_chunks",
    description: "Search for text chunks using semantic similarity",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string" },
        limit: { type: "integer", default: 10 },
        author_filter: { type: "string" },
      },
      required: ["query"],
    },
  },
  {
    name: "parse_pdf",
    description: "Process a PDF with OCR and ingest to Weaviate",
    inputSchema: { type: "object", properties: { pdf_path: { type: "string" } }, required: ["pdf_path"] },
  },
  { name: "where", description: "Returns where it runs", inputSchema: { type: "object" } },
  { name: "hang", description: "Never answers", inputSchema: { type: "object" } },
  { name: "exit", description: "Ends the server", inputSchema: { type: "object" } },
  { name: "add_numbers", description: "Adds", inputSchema: { type: "object" } },
];

const reply = (id, answer) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
const text = (value) => ({ result: { content: [{ type: "text", text: JSON.stringify(value) }] } });

const CALLS = {
  search_chunks: ({ query, limit, author_filter }) =>
    text({
      results: [{ text: query, similarity: 0.9, author: author_filter ?? null }].slice(0, limit),
      total_count: 1,
      limit,
    }),
  parse_pdf: ({ pdf_path, ms = 0 }) =>
    new Promise((resolve) => void setTimeout(() => resolve(text({ success: true, pdf_path })), ms)),
  where: () => text({ cwd: process.cwd(), env: process.env, pid: process.pid }),
  hang: () => new Promise(() => {}),
  exit: () => process.exit(9),
  add_numbers: ({ a, b }) => text({ sum: a + b }),
};

async function answer({ id, method, params }) {
  if (id === undefined) return;
  if (method === "initialize")
    return reply(id, {
      result: {
        protocolVersion: "2024-11-05",
        capabilities: { tools: {} },
        serverInfo: { name: "library-rag", version: "1" },
      },
    });
  if (method === "tools/list") return reply(id, { result: { tools: TOOLS } });
  if (method === "tools/call" && CALLS[params.name]) return reply(id, await CALLS[params.name](params.arguments ?? {}));
  reply(id, { error: { code: -32601, message: `Method not found: ${method}` } });
}

let rest = "";
process.stdin.on("data", (chunk) => {
  if (record) appendFileSync(record, chunk);
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  if (words.includes("silent")) return;
  for (const line of lines) void answer(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));
