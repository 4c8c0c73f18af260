import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LLMAgent, LLMWithMCPTools } from "../../../packages/toolyard/src/agent.ts";
import { FailError } from "../../../packages/toolyard/src/core/errors.ts";
import { createHub } from "../../../packages/toolyard/src/index.ts";
import { MCPClient } from "../../../packages/toolyard/src/client.ts";
import { MCPManager } from "../../../packages/toolyard/src/manager.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

let folder: ToolFolder;
const clients: MCPClient[] = [];

beforeEach(() => void (folder = new ToolFolder()));
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop()));
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

// The document's server in Python, which supports only 2024-11-05 and records its messages.
const SERVER = `import json, os, sys
seen = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "seen.jsonl"), "a")
print("tides server begins", file=sys.stderr, flush=True)
if os.environ.get("TIDES_NEEDS"):
    sys.exit("no " + os.environ["TIDES_NEEDS"]) if os.environ["TIDES_NEEDS"] not in os.environ else None
if os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "broken")):
    sys.exit("TIDES_TOKEN is missing")
tool = {"name": "tide", "description": "The tide", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    seen.write(line); seen.flush()
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params", {})
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize" and params["protocolVersion"] == "2024-11-05":
        about = {"name": "tides", "version": "1"}
        reply["result"] = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": about}
    elif method == "initialize":
        reply["error"] = {"code": -32602, "message": "Unsupported protocol version"}
    elif method == "tools/list":
        reply["result"] = {"tools": [tool]}
    elif method == "tools/call" and params["arguments"].get("wait"):
        continue
    elif method == "tools/call":
        names = params["arguments"].get("names", [])
        text = json.dumps({name: os.environ.get(name) for name in names})
        reply["result"] = {"content": [{"type": "text", "text": text}]}
    else:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    sys.stdout.write(json.dumps(reply) + "\\n"); sys.stdout.flush()
`;

function server(): string {
  return folder.write("mcp_server.py", SERVER);
}

function client(...args: ConstructorParameters<typeof MCPClient>): MCPClient {
  const made = new MCPClient(...args);
  clients.push(made);
  return made;
}

async function requests(): Promise<{ id?: number; method: string; params?: { protocolVersion?: string } }[]> {
  const { readFile } = await import("node:fs/promises");
  const lines = (await readFile(`${folder.path}/seen.jsonl`, "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as never);
}

describe("the environment of the server", () => {
  const names = ["TIDES_TOKEN", "TIDES_PLACE", "TIDES_UNSET"];

  test.each([
    [{ TIDES_PLACE: "Brest", TIDES_UNSET: undefined }, "Brest"],
    [{ TIDES_UNSET: undefined }, "Dover"],
    [null, "Dover"],
    [undefined, "Dover"],
  ])("R2, R24: MCPClient(path, %j) merges these variables into the environment of the program", async (env, place) => {
    vi.stubEnv("TIDES_TOKEN", "from the parent");
    vi.stubEnv("TIDES_PLACE", "Dover");
    const it = client(server(), env as never);
    await it.start();
    expect(await it.callTool("tide", { names })).toEqual({
      TIDES_TOKEN: "from the parent",
      TIDES_PLACE: place,
      TIDES_UNSET: null,
    });
  });

  test("R2, R24: settings pass only the short list of variables; an error names the omitted ones", async () => {
    vi.stubEnv("TIDES_TOKEN", "from the parent");
    const command = ["python3", server()];
    const it = client({ command }, { TIDES_PLACE: "Brest" });
    await it.start();
    expect(await it.callTool("tide", { names })).toEqual({
      TIDES_TOKEN: null,
      TIDES_PLACE: "Brest",
      TIDES_UNSET: null,
    });
    folder.write("broken", "");
    const failure = await client({ command })
      .start()
      .catch((error: unknown) => error);
    expect((failure as FailError).message).toContain("`TIDES_TOKEN`, which is set here and was not passed on");
    expect((failure as FailError).message).not.toContain("from the parent");
  });
});

describe("arguments of the constructor", () => {
  test.each([
    [[undefined], "The server must be a script's path, an address, or settings with `command` or `url`; got nothing."],
    [[""], "got an empty text"],
    [[7], "got 7"],
    [[{ command: ["a"], url: "http://tides.test/mcp" }], "`command` and `url` both define the server."],
    [["server.py", "TIDES_PLACE=Brest"], "`env` must be an object of names and texts, got a string."],
    [["server.py", { TIDES_PORT: 7 }], "`env.TIDES_PORT` must be text, got a number."],
  ])("R2: the constructor refuses %j without printing values of `env`", (args, words) => {
    expect(() => client(...(args as unknown as ConstructorParameters<typeof MCPClient>))).toThrow(words);
  });
});

describe("units of time", () => {
  test.each([
    [{ command: ["tides"], total_timeout: -3 }, "`total_timeout` must be a number of seconds above 0"],
    [{ url: "http://tides.test/mcp", idleStop: "never" }, "`idle_stop` must be a number of seconds above 0"],
    [{ command: ["tides"], timeout: -3 }, "`timeout` must be a number of seconds above 0"],
  ])("R16: the error for %j names seconds as the unit", (settings, words) => {
    expect(() => client(settings as never)).toThrow(words);
  });
});

describe("the session", () => {
  test.each([
    ["{}", ["tide"]],
    ['{"logging": {}}', []],
  ])("R9: a small server that declares %s lists %j", async (capabilities, names) => {
    const path = folder.write("mcp_server.py", SERVER.replace('{"tools": {}}', capabilities));
    const it = client(path);
    await it.start();
    expect((await it.listTools()).map(({ name }) => name)).toEqual(names);
  });

  test("R9: a server that declares no capabilities and lacks tools/list has no tools", async () => {
    const it = client(folder.write("mcp_server.py", SERVER.replace('{"tools": {}}', "{}").replace("tools/list", "x")));
    await it.start();
    expect(await it.listTools()).toEqual([]);
  });

  test("R7: initialises a server that supports only 2024-11-05 in that version", async () => {
    const it = client(server());
    await it.start();
    expect((await it.listTools()).map(({ name }) => name)).toEqual(["tide"]);
    const versions = (await requests()).filter(({ method }) => method === "initialize").map(({ params }) => params);
    expect(versions.at(-1)).toMatchObject({ protocolVersion: "2024-11-05" });
  });

  test("R11: ids continue after a restart", async () => {
    const it = client(server());
    await it.start();
    await it.callTool("tide", {});
    await it.stop();
    await it.start();
    await it.callTool("tide", {});
    const ids = (await requests()).flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(ids.length);
    expect((await requests()).filter(({ method }) => method === "tools/call")).toHaveLength(2);
  });

  test("R14, R17: stderr stays readable after a failed start and `stop()`; errors quote its last line", async () => {
    const it = client(server());
    await it.start();
    expect(await it.callTool("tide", {})).toEqual({});
    await it.stop();
    expect(it.stderr).toContain("tides server begins");
    folder.write("broken", "");
    const failure = (await it.start().catch((error: unknown) => error)) as FailError;
    expect(failure).toBeInstanceOf(FailError);
    expect(failure.message).toContain("Its last line on stderr: TIDES_TOKEN is missing");
    expect(it.stderr.at(-1)).toBe("TIDES_TOKEN is missing");
  });

  test("R16: a timeout names the option that helps", async () => {
    const it = client(server(), null, { timeout: "300ms" });
    await it.start();
    await expect(it.callTool("tide", { wait: true })).rejects.toThrow("`tool_timeouts`");
    await expect(it.callTool("tide", { wait: true }, { timeout: "200ms" })).rejects.toThrow("`timeout` of the call");
    folder.write("silent.py", "import time\ntime.sleep(600)\n");
    const silent = client(`${folder.path}/silent.py`, null, { connect_timeout: "400ms" });
    await expect(silent.start()).rejects.toThrow("`connect_timeout`");
  });
});

const caller = {
  listTools: async () => [{ name: "tide", description: "The tide", input_schema: { type: "object" } }],
  callTool: async () => ({ metres: 4 }),
};

const WORDS = "High water is at four metres.";
describe("a model with the tools", () => {
  const openai = (asked: unknown[]) => ({
    chat: {
      completions: {
        create: async (body: { messages: { role: string }[] }) => {
          asked.push(body);
          const isFirst = body.messages.every(({ role }) => role !== "tool");
          const calls = [{ id: "c1", type: "function", function: { name: "tide", arguments: "{}" } }];
          return { choices: [{ message: isFirst ? { tool_calls: calls } : { content: WORDS } }] };
        },
      },
    },
  });
  const mistral = (asked: unknown[]) => ({
    chat: {
      complete: async (body: { messages: { role: string; toolCallId?: string }[]; toolChoice?: string }) => {
        asked.push(body);
        const isFirst = body.messages.every(({ role }) => role !== "tool");
        const toolCalls = [{ id: "call00001", function: { name: "tide", arguments: {} } }];
        return { choices: [{ message: isFirst ? { toolCalls } : { content: WORDS } }] };
      },
    },
  });
  const anthropic = (asked: unknown[]) => ({
    messages: {
      create: async (body: { messages: unknown[] }) => {
        asked.push(body);
        const use = { type: "tool_use", id: "t1", name: "tide", input: {} };
        return body.messages.length === 1
          ? { content: [use], stop_reason: "tool_use" }
          : { content: [{ type: "text", text: WORDS }], stop_reason: "end_turn" };
      },
    },
  });

  test.each([
    ["OpenAI's", openai],
    ["Mistral's", mistral],
    ["Anthropic's", anthropic],
  ])("R30: uses a client with %s method by calling that method", async (_whose, clientOf) => {
    const asked: unknown[] = [];
    const llm = new LLMWithMCPTools(clientOf(asked), caller);
    expect(await llm.chat("How high is the water?")).toBe(WORDS);
    expect(asked).toHaveLength(2);
    expect(JSON.stringify(asked[1])).toContain("metres");
  });

  test("R30: uses the client's own `fetch`", async () => {
    const { default: OpenAI } = await import("openai");
    const urls: string[] = [];
    const own = new OpenAI({
      apiKey: "k",
      baseURL: "http://nowhere.invalid/v1",
      fetch: async (url) => {
        urls.push(String(url));
        return Response.json({
          id: "1",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: WORDS } }],
        });
      },
    });
    expect(await new LLMWithMCPTools(own, caller).chat("How high?")).toBe(WORDS);
    expect(urls).toEqual(["http://nowhere.invalid/v1/chat/completions"]);
  });

  test("R30: rejects with an error of the client's method, and refuses a client without such a method", async () => {
    const llm = new LLMWithMCPTools({ chat: { complete: () => Promise.reject(new Error("out of order")) } }, caller);
    await expect(llm.chat("x")).rejects.toThrow();
    for (const none of [{}, { chat: {} }, null, "gpt"])
      expect(() => new LLMWithMCPTools(none as never, caller)).toThrow("`llmClient` must be a client of OpenAI");
  });

  test("R30: LLMAgent is the specified agent: initialize, then chat", async () => {
    const agent = new LLMAgent(caller, { llmClient: mistral([]) });
    expect(agent.tools).toBeUndefined();
    await agent.initialize();
    expect(agent.tools).toMatchObject([{ type: "function", function: { name: "tide" } }]);
    expect(await agent.chat("How high?")).toBe(WORDS);
    expect(agent.messages[0]).toMatchObject({ role: "user" });
    vi.stubEnv("MISTRAL_API_KEY", "");
    expect(() => new LLMAgent(caller)).toThrow("MISTRAL_API_KEY");
    vi.stubEnv("MISTRAL_API_KEY", "k");
    expect(new LLMAgent(caller)).toBeInstanceOf(LLMAgent);
  });

  test.each([undefined, 7, ["x"]])("R32: chat(%j) rejects", async (question) => {
    const asked: unknown[] = [];
    const llm = new LLMWithMCPTools(openai(asked), caller);
    await expect(llm.chat(question as never)).rejects.toThrow("`userMessage` must be a text");
    expect(asked).toEqual([]);
  });

  test.each([0, -1, 1.5, "3"])("R33: chat(question, %j) rejects", async (count) => {
    const asked: unknown[] = [];
    const llm = new LLMWithMCPTools(openai(asked), caller);
    await expect(llm.chat("x", count as never)).rejects.toThrow("`maxIterations` must be a whole number above 0");
    expect(asked).toEqual([]);
  });
});

describe("the specified loop", () => {
  interface ModelMessage {
    readonly role: string;
    readonly content: unknown;
    readonly name?: string;
    readonly toolCallId?: string;
    readonly toolCalls?: readonly unknown[];
  }
  interface ModelRequest {
    readonly messages: readonly ModelMessage[];
    readonly toolChoice?: string;
    readonly model?: string;
    readonly tools?: readonly { readonly function: { readonly name: string } }[];
  }

  /** A client like Mistral's that returns these replies in order, and its requests. */
  const scripted = (replies: readonly object[]) => {
    const asked: ModelRequest[] = [];
    const next = (body: ModelRequest) => {
      asked.push(structuredClone(body));
      return { choices: [{ message: replies[Math.min(asked.length, replies.length) - 1] }] };
    };
    return { asked, client: { chat: { complete: async (body: ModelRequest) => next(body) } } };
  };
  const wants = (id: string, args: unknown) => ({ id, function: { name: "tide", arguments: args } });

  test("R32, R34, R35, R36, R37, R39, R41: the specified loop answers two calls, one of them truncated", async () => {
    const { asked, client: model } = scripted([
      { content: "", toolCalls: [wants("brest0001", '{"place": "Brest"}'), wants("brest0002", '{"place": ')] },
      { content: WORDS },
      { content: "At noon." },
    ]);
    const agent = new LLMAgent(caller, { llmClient: model });
    await agent.initialize();
    expect(await agent.chat("How high is the water at Brest?")).toBe(WORDS);
    expect(asked[0]).toMatchObject({ toolChoice: "auto", tools: [{ function: { name: "tide" } }] });
    const [question, assistant, ...results] = asked[1]!.messages;
    expect(question).toEqual({ role: "user", content: "How high is the water at Brest?" });
    expect([question!.role, assistant!.role, assistant!.toolCalls?.length]).toEqual(["user", "assistant", 2]);
    expect(results.map(({ role, toolCallId }) => [role, toolCallId])).toEqual([
      ["tool", "brest0001"],
      ["tool", "brest0002"],
    ]);
    const told = results.map(({ content }) => JSON.parse(String(content)) as { metres?: number; error?: string });
    expect(told).toMatchObject([{ metres: 4 }, { error: expect.stringContaining('{"place": ') }]);
    expect(await agent.chat("And when?")).toBe("At noon.");
    expect(asked[2]!.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "user",
    ]);
  });

  test("R38, R40: an endless loop ends with the specified message, and `finally` stops the server", async () => {
    const { asked, client: model } = scripted([{ content: "", toolCalls: [wants("again0001", "{}")] }]);
    const tides = client(server());
    await tides.start();
    try {
      const agent = new LLMAgent(tides, { llmClient: model });
      await agent.initialize();
      expect(await agent.chat("Go on", 3)).toBe("Max iterations atteintes");
      expect(asked).toHaveLength(3);
    } finally {
      await tides.stop();
    }
    await expect(tides.listTools()).rejects.toThrow();
  });
});

describe("details", () => {
  test("R18: a logger without `with()` works", async () => {
    const lines: string[] = [];
    const logger = { warning: (message: string, facts?: object) => void lines.push(message + JSON.stringify(facts)) };
    await using manager = new MCPManager({ get_tide: { host: "127.0.0.1", port: 9 } }, {
      logger,
      attempts: 1,
    } as never);
    expect(await manager.callTool("get_tide")).toEqual({ error: "Tide MCP unavailable on port 9" });
    expect(lines.join("\n")).toContain("Tide MCP returned no answer.");
    const hub = await createHub({ settings: {}, logger: logger as never });
    await hub.close();
  });

  test("R16: reports an invalid option once", () => {
    const slip = (): unknown => new MCPClient("server.py", null, { timout: 3 } as never);
    expect(slip).toThrow(/There is no option `timout`\. Did you mean `timeout`(?!.*`timeout`)/);
  });
});
