// The example of the library document, from question to answer: instances of the official clients, a child server on
// stdio, and the wire format that each vendor requires.
import { fileURLToPath } from "node:url";
import Anthropic from "@anthropic-ai/sdk";
import { Mistral } from "@mistralai/mistralai";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { LLMWithMCPTools, OptionError } from "../../packages/toolyard/src/agent.ts";
import { MCPClient } from "../../packages/toolyard/src/client.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { isAlive, ToolFolder } from "../support/tool-folder.ts";
import { startModels, type ModelRequest, type ModelStandIn } from "./stand-in.ts";

const SERVER = fileURLToPath(new URL("library.mjs", import.meta.url));
const QUESTION =
  "What did Peirce say about nominalism versus realism? Search the database and summarize the key points.";
const SEARCH = { query: "What is nominalism?", limit: 5, author_filter: "Charles Sanders Peirce" };
const ANSWER = "Peirce was a realist who believed that universals are real.";

let folder: ToolFolder;
let models: ModelStandIn;
let client: MCPClient;
beforeAll(async () => {
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
  models = await startModels();
  client = new MCPClient(
    SERVER,
    { MISTRAL_API_KEY: "a key", WEAVIATE_URL: "http://store:8080" },
    { logger: SILENT_LOGGER },
  );
  await client.start();
});
afterEach(() => models.say([]));
afterAll(async () => {
  await client?.stop();
  await models?.close();
  vi.unstubAllEnvs();
  folder?.[Symbol.dispose]();
});

const mistral = (): Mistral => new Mistral({ apiKey: "mistral-key", serverURL: `${models.url}/mistral` });
const openai = (): OpenAI => new OpenAI({ apiKey: "openai-key", baseURL: `${models.url}/openai/v1` });
const anthropic = (): Anthropic => new Anthropic({ apiKey: "anthropic-key", baseURL: `${models.url}/anthropic` });

interface ChatMessage {
  readonly role: string;
  readonly content: string;
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}
const latest = (): ModelRequest => models.asked.at(-1)!;
const messages = (): readonly ChatMessage[] => latest().body["messages"] as ChatMessage[];

test("R20: search_chunks has its description and its input schema, and returns results and their count", async () => {
  const tool = (await client.listTools()).find(({ name }) => name === "search_chunks");
  expect(tool).toMatchObject({
    description: "Search for text chunks using semantic similarity",
    input_schema: {
      properties: {
        query: { type: "string" },
        limit: { type: "integer", default: 10 },
        author_filter: { type: "string" },
      },
      required: ["query"],
    },
  });
  expect(await client.callTool("search_chunks", { query: "nominalism" })).toMatchObject({
    total_count: 7,
    results: expect.arrayContaining([
      {
        text: expect.any(String),
        similarity: expect.any(Number),
        work_author: expect.any(String),
        work_title: expect.any(String),
        source_id: expect.any(String),
        order_index: expect.any(Number),
      },
    ]),
  });
});

test("R21: refuses a call of parse_pdf without a path before it reaches the tool", async () => {
  const tool = (await client.listTools()).find(({ name }) => name === "parse_pdf");
  expect(tool).toMatchObject({
    description: "Process a PDF with OCR and ingest to Weaviate",
    input_schema: { properties: { pdf_path: { type: "string" } }, required: ["pdf_path"] },
  });
  expect(await client.callTool("parse_pdf", { pdf_path: "essay.pdf" })).toMatchObject({ success: true });
  await expect(client.callTool("parse_pdf", {})).rejects.toThrow(/pdf_path/);
});

test("R22: the model receives all nine tools of the server", async () => {
  models.say([{ text: "Which one?" }]);
  await new LLMWithMCPTools(mistral(), client).chat("What can you do?");
  const tools = latest().body["tools"] as { function: { name: string } }[];
  expect(tools.map(({ function: { name } }) => name)).toEqual([
    "ping",
    "parse_pdf",
    "search_chunks",
    "search_summaries",
    "get_document",
    "list_documents",
    "get_chunks_by_document",
    "filter_by_author",
    "delete_document",
  ]);
});

test("R23: handler and client return the store's results unchanged", async () => {
  const found = (await client.callTool("search_chunks", { query: "What is a habit?", limit: 1 })) as {
    results: object[];
  };
  expect(found.results).toEqual([
    {
      text: "What is a habit? A general law of action.",
      similarity: expect.any(Number),
      source_id: "pragmatism_peirce",
      work_author: "Charles Sanders Peirce",
      work_title: "Pragmatism",
      order_index: 4,
    },
  ]);
});

test("R24: the server receives its key and the address of its store, and does not start without a key", async () => {
  expect(await client.callTool("ping")).toBe("pong, store at http://store:8080");
  const keyless = new MCPClient(SERVER, {}, { logger: SILENT_LOGGER });
  try {
    await expect(keyless.start()).rejects.toThrow("exit code 1");
  } finally {
    await keyless.stop();
  }
});

test.each([
  ["OpenAI", openai, "openai-key"],
  ["Anthropic", anthropic, "anthropic-key"],
  ["Mistral", mistral, "mistral-key"],
] as const)("R25: answers the specified example question with a client of %s", async (_name, make, key) => {
  models.say([{ calls: [{ id: "call00001", name: "search_chunks", arguments: SEARCH }] }, { text: ANSWER }]);
  const agent = new LLMWithMCPTools(make(), client);
  expect(await agent.chat(QUESTION)).toBe(ANSWER);
  const [, , result] = agent.messages;
  const part = (
    result!.content as unknown as { output: { value: { results: { work_author: string; similarity: number }[] } } }[]
  )[0]!;
  expect(part.output.value.results).toHaveLength(5);
  for (const { work_author: author, similarity } of part.output.value.results) {
    expect(author).toBe(SEARCH.author_filter);
    expect(similarity).toBeTypeOf("number");
  }
  const { authorization, "x-api-key": apiKey } = latest().headers;
  expect(authorization ?? apiKey).toContain(key);
});

test("R26: a program needs only one model client and the MCP client", async () => {
  models.say([{ text: "Bonjour." }]);
  // Only the key is set, as in a program that installed one vendor's client.
  const { apiKey, baseURL } = openai();
  expect(await new LLMWithMCPTools({ apiKey, baseURL, chat: {} }, client).chat("Bonjour")).toBe("Bonjour.");
});

test("R30: accepts a client of each vendor or a model of the AI SDK, and refuses anything else immediately", () => {
  for (const llm of [openai(), anthropic(), mistral()])
    expect(new LLMWithMCPTools(llm, client)).toBeInstanceOf(LLMWithMCPTools);
  expect(() => new LLMWithMCPTools({ complete: () => "text" }, client)).toThrow(OptionError);
});

test("R31: sends tools to Mistral and OpenAI as functions, and to Anthropic with input_schema", async () => {
  const schema = { type: "object", properties: { pdf_path: { type: "string" } }, required: ["pdf_path"] };
  const description = "Process a PDF with OCR and ingest to Weaviate";
  const tools = (await client.listTools()).filter(({ name }) => name === "parse_pdf");
  const asFunction = { type: "function", function: { name: "parse_pdf", description, parameters: schema } };
  expect(new LLMWithMCPTools(mistral(), client).convertMcpToolsToLlmFormat(tools)).toEqual([asFunction]);
  expect(new LLMWithMCPTools(openai(), client).convertMcpToolsToLlmFormat(tools)).toEqual([asFunction]);
  expect(new LLMWithMCPTools(anthropic(), client).convertMcpToolsToLlmFormat(tools)).toEqual([
    { name: "parse_pdf", description, input_schema: schema },
  ]);
  models.say([{ text: "ok" }]);
  await new LLMWithMCPTools(mistral(), client).chat("hello");
  expect(latest().body["tools"]).toContainEqual(asFunction);
});

test("R32: sends message and tools, calls the requested tool, sends its result, until the final answer", async () => {
  const from = models.asked.length;
  models.say([
    { calls: [{ id: "call00001", name: "list_documents", arguments: {} }] },
    { calls: [{ id: "call00002", name: "search_chunks", arguments: SEARCH }] },
    { text: ANSWER },
  ]);
  expect(await new LLMWithMCPTools(mistral(), client).chat(QUESTION)).toBe(ANSWER);
  const roles = models.asked.slice(from).map(({ body }) => (body["messages"] as ChatMessage[]).map(({ role }) => role));
  expect(roles).toEqual([["user"], ["user", "assistant", "tool"], ["user", "assistant", "tool", "assistant", "tool"]]);
});

test("R33: the limit is five requests to the model by default, and a question can set another", async () => {
  const endless = () => ({ calls: [{ id: "call00001", name: "ping", arguments: {} }] });
  const agent = new LLMWithMCPTools(mistral(), client);
  let from = models.asked.length;
  models.say(endless);
  await agent.chat("Go on for ever");
  expect(models.asked.length - from).toBe(5);
  from = models.asked.length;
  await agent.chat("Go on for ever", 10);
  expect(models.asked.length - from).toBe(10);
});

test("R34: the model chooses its tools, and mistral-large-latest is Mistral's default", async () => {
  models.say([{ text: "ok" }, { text: "ok" }]);
  await new LLMWithMCPTools(mistral(), client).chat("hello");
  expect(latest().body).toMatchObject({ tool_choice: "auto", model: "mistral-large-latest" });
  await new LLMWithMCPTools(mistral(), client, "mistral-small-latest").chat("hello");
  expect(latest().body).toMatchObject({ model: "mistral-small-latest" });
});

test("R35: places the assistant's message with its calls before their results", async () => {
  models.say([
    { text: "I look.", calls: [{ id: "call00001", name: "search_chunks", arguments: SEARCH }] },
    { text: ANSWER },
  ]);
  await new LLMWithMCPTools(mistral(), client).chat(QUESTION);
  const [question, assistant, result] = messages();
  expect(question).toMatchObject({ role: "user" });
  expect(assistant).toMatchObject({
    role: "assistant",
    content: "I look.",
    tool_calls: [{ id: "call00001", function: { name: "search_chunks" } }],
  });
  expect(JSON.parse(assistant!.tool_calls![0]!.function.arguments)).toEqual(SEARCH);
  expect(result).toMatchObject({ role: "tool", tool_call_id: "call00001" });
});

test("R36: answers every call of a reply under its id, with JSON as text", async () => {
  models.say([
    {
      calls: [
        { id: "call00001", name: "search_chunks", arguments: SEARCH },
        { id: "call00002", name: "ping", arguments: {} },
        { id: "call00003", name: "get_document", arguments: { source_id: "none" } },
      ],
    },
    { text: ANSWER },
  ]);
  await new LLMWithMCPTools(mistral(), client).chat(QUESTION);
  const results = messages().filter(({ role }) => role === "tool");
  expect(results.map(({ name, tool_call_id: id }) => [name, id])).toEqual([
    ["search_chunks", "call00001"],
    ["ping", "call00002"],
    ["get_document", "call00003"],
  ]);
  expect(results.map(({ content }) => JSON.parse(content) as unknown)).toEqual([
    expect.objectContaining({ total_count: 5 }),
    "pong, store at http://store:8080",
    { document: null, found: false },
  ]);
});

test("R37: a reply without tool calls is the final answer", async () => {
  const from = models.asked.length;
  models.say([{ text: "No tool is needed." }]);
  expect(await new LLMWithMCPTools(openai(), client).chat("hello")).toBe("No tool is needed.");
  expect(models.asked.length - from).toBe(1);
});

test("R38: returns the specified message when the iterations are used up", async () => {
  models.say(() => ({ calls: [{ id: "call00001", name: "ping", arguments: {} }] }));
  expect(await new LLMWithMCPTools(anthropic(), client).chat("Go on for ever", 2)).toBe("Max iterations atteintes");
});

test("R39: the request for a second question contains the first question and its answer", async () => {
  models.say([{ text: "I am a library." }, { text: "I said so." }]);
  const agent = new LLMWithMCPTools(openai(), client);
  await agent.chat("Who are you?");
  await agent.chat("Who?");
  expect(messages().map(({ role, content }) => [role, content])).toEqual([
    ["user", "Who are you?"],
    ["assistant", "I am a library."],
    ["user", "Who?"],
  ]);
});

test("R40: after start, list, question and stop the server has ended, also when the question fails", async () => {
  models.say([
    { calls: [{ id: "call00001", name: "where_is_it", arguments: {} }] },
    { status: 400, message: "the model is out of order" },
  ]);
  const own = new MCPClient(
    fileURLToPath(new URL("../documents/rag/library-server.mjs", import.meta.url)),
    {},
    { logger: SILENT_LOGGER },
  );
  await own.start();
  const { pid } = (await own.callTool("where")) as { pid: number };
  try {
    const agent = new LLMWithMCPTools(mistral(), own);
    expect(await agent.initialize()).toHaveLength(6);
    expect(isAlive(pid)).toBe(true);
    await expect(agent.chat(QUESTION)).rejects.toThrow("the model is out of order");
  } finally {
    await own.stop();
  }
  expect(isAlive(pid)).toBe(false);
});

test("R41: returns arguments that are not JSON to the model, which may correct them", async () => {
  models.say([
    { calls: [{ id: "call00001", name: "search_chunks", arguments: '{"query": "What is' }] },
    { calls: [{ id: "call00002", name: "search_chunks", arguments: SEARCH }] },
    { text: ANSWER },
  ]);
  expect(await new LLMWithMCPTools(mistral(), client).chat(QUESTION)).toBe(ANSWER);
  const [first, second] = messages()
    .filter(({ role }) => role === "tool")
    .map(({ content }) => JSON.parse(content) as { error?: string; total_count?: number });
  expect(first!.error).toContain('{"query": "What is');
  expect(second!.total_count).toBe(5);
});
