// The partner server on the TypeScript SDK v2, which speaks both eras: `server.mjs [--http]`.
import http from "node:http";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { toNodeHandler } from "@modelcontextprotocol/node";

const ANSWER = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };
const text = (words) => ({ content: [{ type: "text", text: words }] });
const words = (name) =>
  fromJsonSchema({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
const sampling = (asked) => ({ messages: [{ role: "user", content: { type: "text", text: asked } }], maxTokens: 10 });
const answered = ({ action, content }) => text(`answer: ${action === "accept" ? content.answer : action}`);
const sampled = ({ content }) => text(`sampled: ${(Array.isArray(content) ? content[0] : content).text}`);

let cancelled = 0;
let isExtended = false;
/** Notifies subscribers if there are subscriptions (over HTTP they belong to the handler). */
let tellSubscribers = () => {};

function createServer() {
  const server = new McpServer(
    { name: "typescript", version: "1" },
    { instructions: "Notes of typescript.", capabilities: { tools: { listChanged: true } } },
  );
  server.registerTool("quick", { inputSchema: words("text") }, (args) => text(`quick: ${args.text}`));
  registerAsking(server);
  registerWork(server);
  server.registerTool("change", {}, () => {
    isExtended = true;
    // The SDK sends the notification itself.
    registerExtra(server);
    return text("changed");
  });
  server.registerTool("change_modern", {}, () => {
    isExtended = true;
    registerExtra(server);
    tellSubscribers();
    return text("changed");
  });
  if (isExtended) registerExtra(server);
  server.registerResource("note", "note://partner", {}, () => ({
    contents: [{ uri: "note://partner", text: "a note" }],
  }));
  server.registerPrompt("greet", { argsSchema: words("name") }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }],
  }));
  return server;
}

function registerExtra(server) {
  server.registerTool("extra", {}, () => text("extra"));
}

function registerAsking(server) {
  const question = { inputSchema: words("question") };
  server.registerTool("ask", question, async (args, { mcpReq }) =>
    answered(await mcpReq.elicitInput({ message: args.question, requestedSchema: ANSWER })),
  );
  server.registerTool("ask_modern", question, (args, { mcpReq }) => {
    const reply = mcpReq.inputResponses?.answer;
    return reply
      ? answered(reply)
      : inputRequired({
          inputRequests: { answer: inputRequired.elicit({ message: args.question, requestedSchema: ANSWER }) },
        });
  });
  const asked = { inputSchema: words("text") };
  server.registerTool("sample", asked, async (args, { mcpReq }) =>
    sampled(await mcpReq.requestSampling(sampling(args.text))),
  );
  server.registerTool("sample_modern", asked, (args, { mcpReq }) => {
    const reply = mcpReq.inputResponses?.text;
    return reply
      ? sampled(reply)
      : inputRequired({ inputRequests: { text: inputRequired.createMessage(sampling(args.text)) } });
  });
}

async function report({ mcpReq }, progress, total) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken !== undefined)
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total } });
}

function registerWork(server) {
  server.registerTool("work", {}, async (context) => {
    for (let step = 1; step <= 6; step++) {
      await report(context, step, 6);
      await sleep(500);
    }
    return text("worked");
  });
  server.registerTool("hang", {}, async (context) => {
    await report(context, 1, 2);
    try {
      await sleep(60_000, undefined, { signal: context.mcpReq.signal });
    } catch (error) {
      cancelled += 1;
      throw error;
    }
    return text("not cancelled");
  });
  server.registerTool("heard", {}, () => text(`cancelled: ${cancelled}`));
}

/** Serves both eras at one endpoint: the newer one without sessions, the older one with sessions. */
function serveHttp() {
  const modern = createMcpHandler(createServer, { legacy: "reject" });
  tellSubscribers = () => modern.notify.toolsChanged();
  const sessions = new Map();
  const answerLegacy = async (request) => {
    const known = sessions.get(request.headers.get("mcp-session-id"));
    if (known) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createServer().connect(transport);
    return transport.handleRequest(request);
  };
  const answer = toNodeHandler({
    fetch: async (request) => ((await isLegacyRequest(request)) ? answerLegacy(request) : modern.fetch(request)),
  });
  const listener = http.createServer((request, response) => void answer(request, response));
  listener.listen(0, "127.0.0.1", () => console.log(`url http://127.0.0.1:${listener.address().port}/mcp`));
}

await sleep(Number(process.env.PARTNER_START_MS ?? 0));
if (process.argv.includes("--http")) serveHttp();
else serveStdio(createServer);
