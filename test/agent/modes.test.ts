// Input of the model: all tools or discovery tools, hints, a remote hub, and decisions in JSON.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createAgent, type CreateAgentOptions } from "../../packages/toolyard/src/agent.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { MCPManager } from "../../packages/toolyard/src/manager.ts";
import { closedPort, startTools } from "../documents/tool-server.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { startModels, type ModelRequest, type ModelStandIn, type ScriptedReply } from "./stand-in.ts";
import { toolsFile } from "./tools-file.ts";

const NAMES = ["add", "fails", "hang", "item", "picture", "say", "search_chunks", "slow_step"];

let folder: ToolFolder;
let models: ModelStandIn;
let hub: LibraryHub;
beforeAll(async () => {
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
  models = await startModels();
  hub = await createHub({
    settings: { modules: { paths: [toolsFile] }, builtin: { execute_code: false } },
    logger: SILENT_LOGGER,
  });
  await hub.list();
});
afterAll(async () => {
  await hub?.close();
  await models?.close();
  vi.unstubAllEnvs();
  folder?.[Symbol.dispose]();
});
let from = 0;
beforeEach(() => {
  from = models.asked.length;
});
afterEach(() => models.say([]));

const asked = (): readonly ModelRequest[] => models.asked.slice(from);
const agentOf = (options: Partial<CreateAgentOptions> = {}) =>
  createAgent({ model: "openai-chat/gpt-x", hub, models: models.models, ...options });
const call = (name: string, args: object | string = {}): ScriptedReply => ({ calls: [{ name, arguments: args }] });
const toolsOf = ({ body }: ModelRequest): string[] =>
  ((body["tools"] ?? []) as { function: { name: string } }[]).map(({ function: { name } }) => name);
const messagesOf = ({ body }: ModelRequest): { role: string; content: string }[] =>
  body["messages"] as { role: string; content: string }[];
const promptOf = (one: ModelRequest): string => messagesOf(one)[0]!.content;

describe("modes", () => {
  test("gives the model all tools of a small catalog, including on-demand tools, but not the hub's own", async () => {
    models.say([{ text: "ok" }]);
    await agentOf().chat("hello");
    expect(toolsOf(asked()[0]!)).toEqual(NAMES);
  });

  test("gives the model only discovery tools for a large catalog, and calls found tools through them", async () => {
    models.say([
      call("tool_search", { query: "adds numbers" }),
      call("execute_tool", { name: "add", arguments: { a: 1, b: 2 } }),
      { text: "Three." },
    ]);
    const { text, steps } = await agentOf({ maxListedTools: 3 }).chat("1+2?");
    expect(toolsOf(asked()[0]!)).toEqual(["execute_tool", "tool_search"]);
    expect(text).toBe("Three.");
    expect(JSON.stringify(steps[0]!.calls[0]!.value)).toContain('"add"');
    expect(steps[1]!.calls[0]).toMatchObject({ tool: "execute_tool", ok: true, value: 3 });
  });

  test("also considers the size of the list, and keeps a mode that the program has set", async () => {
    models.say(() => ({ text: "ok" }));
    await agentOf({ maxListedBytes: 200 }).chat("hello");
    await agentOf({ maxListedBytes: 200, mode: "all" }).chat("hello");
    await agentOf({ mode: "discovery" }).chat("hello");
    expect(asked().map((one) => toolsOf(one).length)).toEqual([2, NAMES.length, 2]);
  });
});

describe("hints", () => {
  test("M12: the model receives the hint of an added tool, and no other text changes", async () => {
    const yard = new ToolFolder();
    const jokes = await createHub({ settings: { scripts: { tools_path: yard.path } }, logger: SILENT_LOGGER });
    try {
      const agent = agentOf({ hub: jokes });
      models.say([{ text: "I know none." }, call("get_joke"), { text: "Knock, knock." }]);
      await agent.chat("Tell me a joke");
      expect(promptOf(asked()[0]!)).not.toContain("joke");
      yard.script(
        "get_joke",
        "main.mjs",
        'console.log("Knock, knock.");\n',
        'hint = "Use it when the user asks for a joke."\n',
      );
      expect(await agent.chat("And now?")).toMatchObject({
        text: "Knock, knock.",
        steps: [{ calls: [{ tool: "get_joke", ok: true, value: expect.stringContaining("Knock") }] }, {}],
      });
      expect(promptOf(asked()[1]!)).toContain("- get_joke: Use it when the user asks for a joke.");
    } finally {
      await jokes.close();
      yard[Symbol.dispose]();
    }
  });

  test("M12: a line of the configuration is a hint, too; a hint for a missing tool is omitted", async () => {
    const configured = await createHub({
      settings: {
        modules: { paths: [toolsFile] },
        agent: { hints: { add: "For sums.", get_joke: "For laughs." }, instructions: "Be brief." },
        models: { ...models.models, language: "openai-chat/gpt-x" },
      },
      logger: SILENT_LOGGER,
    });
    try {
      models.say([{ text: "ok" }]);
      await createAgent({ hub: configured }).chat("hello");
      expect(promptOf(asked()[0]!)).toBe("Be brief.\n\nHints on individual tools:\n- add: For sums.");
    } finally {
      await configured.close();
    }
  });
});

describe("location of the tools", () => {
  test("a hub at a URL serves the same chat, and closing the agent closes only the connection", async () => {
    const served = await createHub({
      settings: {
        modules: { paths: [toolsFile], visibility: "ondemand" },
        builtin: { execute_code: true },
        server: { port: 0 },
      },
      logger: SILENT_LOGGER,
    });
    const { endpoint } = await served.serve();
    try {
      await using agent = agentOf({ hub: endpoint });
      models.say([call("add", { a: 20, b: 22 }), { text: "42." }]);
      expect(await agent.chat("20+22?")).toMatchObject({
        text: "42.",
        steps: [{ calls: [{ ok: true, value: 42 }] }, {}],
      });
      expect(toolsOf(asked()[0]!)).toEqual(NAMES);
    } finally {
      await served.close();
    }
  });

  test("discovery works for a server without discovery tools", async () => {
    await using agent = agentOf({
      hub: {
        command: process.execPath,
        args: [fileURLToPath(new URL("library.mjs", import.meta.url))],
        env: { MISTRAL_API_KEY: "x" },
      },
      mode: "discovery",
    });
    models.say([call("execute_tool", { name: "ping", arguments: {} }), { text: "There." }]);
    expect(await agent.chat("Are you there?")).toMatchObject({
      steps: [{ calls: [{ ok: true, value: "pong, store at http://localhost:8080" }] }, {}],
    });
    expect(toolsOf(asked()[0]!)).toEqual(["execute_tool", "tool_search"]);
  });

  test("rejects if the server cannot be reached, and connects again for a later question", async () => {
    await using agent = agentOf({ hub: `http://127.0.0.1:${await closedPort()}/mcp` });
    await expect(agent.chat("hello")).rejects.toThrow("The MCP server cannot be reached.");
    await expect(agent.chat("hello")).rejects.toThrow("The MCP server cannot be reached.");
  });

  test("M7: if a service dies during a chat, gives the model an object with `error` and continues", async () => {
    const service = await startTools({ get_weather: ({ location }) => ({ location, temperature: 21 }) });
    await using manager = new MCPManager(
      { get_weather: { host: "127.0.0.1", port: service.port, name: "Weather MCP" } },
      { timeout: 5, attempts: 1, logger: SILENT_LOGGER },
    );
    models.say(
      (_one, index) =>
        [call("get_weather", { location: "Tokyo" }), call("get_weather", { location: "Paris" })][index] ?? {
          text: "21 degrees in Tokyo; of Paris I know nothing.",
        },
    );
    const agent = agentOf({ hub: manager });
    const stopped: Promise<void>[] = [];
    const outcome = await agent.chat("Weather in Tokyo and Paris?", {
      onEvent: (event) => event.type === "result" && stopped.length === 0 && stopped.push(service.close()),
    });
    await Promise.all(stopped);
    expect(outcome).toMatchObject({ stopReason: "final", text: "21 degrees in Tokyo; of Paris I know nothing." });
    const results = messagesOf(asked().at(-1)!)
      .filter(({ role }) => role === "tool")
      .map(({ content }) => JSON.parse(content) as unknown);
    expect(results).toEqual([
      { location: "Tokyo", temperature: 21 },
      { error: `Weather MCP unavailable on port ${service.port}` },
    ]);
  });

  test("M10: accepts a tool name from the model that begins with the server's name", async () => {
    const weather = await createHub({
      settings: {
        mcp: {
          stdio_servers: {
            library: {
              command: process.execPath,
              args: [fileURLToPath(new URL("library.mjs", import.meta.url))],
              env: { MISTRAL_API_KEY: "x" },
            },
          },
        },
      },
      logger: SILENT_LOGGER,
    });
    try {
      models.say([call("library.ping"), { text: "ok" }]);
      expect(await agentOf({ hub: weather }).chat("ping")).toMatchObject({
        steps: [{ calls: [{ ok: true, value: expect.stringContaining("pong") }] }, {}],
      });
      expect(toolsOf(asked()[0]!)).toContain("library__ping");
    } finally {
      await weather.close();
    }
  });
});

describe("decisions in JSON", () => {
  const decide = (decision: object | string): ScriptedReply => ({
    text: typeof decision === "string" ? decision : JSON.stringify(decision),
  });
  const json = (options: Partial<CreateAgentOptions> = {}) =>
    agentOf({ model: "local/tiny", strategy: "json", ...options });

  test("puts tools into the prompt and results into the next message, and returns the answer", async () => {
    models.say([
      decide({ action: "call_tool", tool: "add", arguments: { a: 1, b: 2 } }),
      decide({ action: "final_answer", answer: "Three." }),
    ]);
    const heard: string[] = [];
    const outcome = await json().chat("1+2?", { onEvent: (event) => event.type === "text" && heard.push(event.text) });
    expect(outcome).toMatchObject({
      text: "Three.",
      stopReason: "final",
      steps: [{ calls: [{ tool: "add", value: 3 }] }, {}],
    });
    expect(heard).toEqual(["Three."]);
    expect(asked()[0]!.body["tools"]).toBeUndefined();
    expect(promptOf(asked()[0]!)).toContain('{"name":"add","description":"Adds two numbers"');
    expect(JSON.stringify(messagesOf(asked()[1]!).at(-1)!.content)).toContain("Result of add:\\n3");
  });

  test("accepts several calls, a code fence and text around the object", async () => {
    models.say([
      decide(
        'I think:\n```json\n{"action": "call_tools", "calls": [{"tool": "add", "arguments": {"a": 1, "b": ' +
          '1}}, {"tool": "say", "arguments": {"text": "a } b"}}]}\n```',
      ),
      decide({ action: "final_answer", answer: { sum: 2 } }),
    ]);
    const { text, steps } = await json().chat("Do both");
    expect(steps[0]!.calls.map(({ value }) => value)).toEqual([2, "a } b"]);
    expect(text).toBe('{"sum":2}');
  });

  test("a question to the user ends the turn, and the user's reply continues it", async () => {
    models.say([
      decide({ action: "clarify", question: "Which city?" }),
      decide({ action: "final_answer", answer: "Sunny." }),
    ]);
    const agent = json();
    expect(await agent.chat("What is the weather?")).toMatchObject({ stopReason: "clarify", text: "Which city?" });
    expect(await agent.chat("Tokyo")).toMatchObject({ stopReason: "final", text: "Sunny." });
  });

  test("asks again after text that is not a decision, then accepts it as the answer", async () => {
    models.say([decide("Hm."), decide("It is simply so.")]);
    const outcome = await json().chat("Why?");
    expect(outcome).toMatchObject({ text: "It is simply so.", stopReason: "final", steps: { length: 2 } });
    expect(JSON.stringify(messagesOf(asked()[1]!).at(-1)!.content)).toContain("single JSON object");
  });

  test("reports the failure of a tool to the model as a failure", async () => {
    models.say([
      decide({ action: "call_tool", tool: "fails", arguments: {} }),
      decide({ action: "final_answer", answer: "It burns." }),
    ]);
    expect(await json().chat("Print")).toMatchObject({
      text: "It burns.",
      steps: [{ calls: [{ ok: false, kind: "tool_error" }] }, {}],
    });
    expect(JSON.stringify(messagesOf(asked()[1]!).at(-1)!.content)).toContain("the printer is on fire");
  });

  test("switches to JSON decisions if a provider reports that its model has no tool calling", async () => {
    models.say((one) =>
      one.body["tools"]
        ? { status: 400, message: "registry/tiny does not support tools" }
        : decide({ action: "final_answer", answer: "In JSON." }),
    );
    const agent = agentOf({ model: "local/tiny" });
    expect(await agent.chat("hello")).toMatchObject({ text: "In JSON.", stopReason: "final" });
    await agent.chat("again");
    expect(asked().map(({ body }) => body["tools"] !== undefined)).toEqual([true, false, false]);
  });

  test("does not switch to JSON decisions after any other refusal of the provider", async () => {
    models.say([{ status: 400, message: "context length exceeded" }]);
    expect(await agentOf({ model: "local/tiny" }).chat("hello")).toMatchObject({
      stopReason: "error",
      error: { status: 400 },
    });
    expect(asked()).toHaveLength(1);
  });

  test("continues a conversation with JSON decisions that began with tool calling", async () => {
    models.say([
      call("add", { a: 1, b: 2 }),
      { text: "Three." },
      decide({ action: "final_answer", answer: "I said three." }),
    ]);
    const first = agentOf();
    await first.chat("1+2?");
    const second = json();
    await second.restore(first.save());
    expect(await second.chat("What did you say?")).toMatchObject({ text: "I said three." });
    expect(messagesOf(asked()[2]!).map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
  });
});

test("returns an outcome if a provider disconnects during a reply", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Half a"}}]}\n\n',
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    const agent = agentOf({
      model: "half/x",
      models: { providers: { half: { base_url: `http://127.0.0.1:${port}/v1` } } },
      maxRetries: 0,
    });
    expect(await agent.chat("hello", { onEvent: () => {} })).toMatchObject({ stopReason: "error" });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
