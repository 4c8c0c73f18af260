// Tests of the agent loop over HTTP: AI SDK clients call a fake server that has the wire formats of the vendors.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createAgent,
  OptionError,
  type AgentEvent,
  type CreateAgentOptions,
} from "../../packages/toolyard/src/agent.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { startModels, type ModelRequest, type ModelStandIn, type ScriptedReply } from "./stand-in.ts";
import { hanging, load, RED_DOT, toolsFile } from "./tools-file.ts";

const VENDORS = [
  "openai/gpt-x",
  "openai-chat/gpt-x",
  "anthropic/claude-x",
  "mistral/mistral-large-latest",
  "google/gemini-x",
  "local/qwen",
] as const;
/**
 * Vendors that send arguments as JSON text, which can be malformed. Anthropic sends arguments as text only in streams.
 */
const BREAKABLE = ["openai/gpt-x", "openai-chat/gpt-x", "mistral/mistral-large-latest", "local/qwen"] as const;

let models: ModelStandIn;
let hub: LibraryHub;
beforeAll(async () => {
  models = await startModels();
  hub = await createHub({ settings: { modules: { paths: [toolsFile] } }, logger: SILENT_LOGGER });
  await hub.list();
});
afterAll(async () => {
  await hub?.close();
  await models?.close();
});
let from = 0;
beforeEach(() => {
  from = models.asked.length;
});
afterEach(() => models.say([]));

const asked = (): readonly ModelRequest[] => models.asked.slice(from);
const agentOf = (model: string, options: Partial<CreateAgentOptions> = {}) =>
  createAgent({ model, hub, models: models.models, ...options });
const call = (name: string, args: object | string = {}): ScriptedReply => ({ calls: [{ name, arguments: args }] });
const sent = (index = -1): string => JSON.stringify(asked().at(index)!.body);

describe.each(BREAKABLE)("with %s", (model) => {
  test.each([false, true])(
    "passes an integer beyond 2^53 to the tool and back exactly (streamed: %s)",
    async (isHeard) => {
      models.say([call("item", '{"id": 7795506888185572399, "ids": [-9007199254740993]}'), { text: "Found." }]);
      const events: AgentEvent[] = [];
      await agentOf(model).chat("Find it.", isHeard ? { onEvent: (event) => events.push(event) } : {});
      // The result of the call, which the second request contains as text.
      expect(sent(1)).toContain(String.raw`{\"id\":7795506888185572399,\"ids\":[-9007199254740993]}`);
    },
  );
});

describe.each(VENDORS)("with %s", (model) => {
  test.each([false, true])(
    "makes and answers both calls of one reply; the following text is the answer (streamed: %s)",
    async (isHeard) => {
      models.say([
        {
          calls: [
            { name: "add", arguments: { a: 2, b: 3 } },
            { name: "add", arguments: { a: 4, b: 5 } },
          ],
        },
        { text: "It is 5 and 9." },
      ]);
      const events: AgentEvent[] = [];
      const outcome = await agentOf(model).chat(
        "What is 2+3 and 4+5?",
        isHeard ? { onEvent: (event) => events.push(event) } : {},
      );
      expect(outcome).toMatchObject({
        text: "It is 5 and 9.",
        stopReason: "final",
        usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
      });
      expect(
        outcome.steps.map(({ calls }) => calls.map(({ tool, arguments: args, value }) => [tool, args, value])),
      ).toEqual([
        [
          ["add", { a: 2, b: 3 }, 5],
          ["add", { a: 4, b: 5 }, 9],
        ],
        [],
      ]);
      expect(asked().map(({ isStream }) => isStream)).toEqual([isHeard, isHeard]);
      if (isHeard)
        expect(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toBe("It is 5 and 9.");
    },
  );

  test.each([429, 500, 503])("repeats the request after a response with status %i", async (status) => {
    models.say([{ status, message: "come back later" }, { text: "Here I am." }]);
    expect(await agentOf(model).chat("hello")).toMatchObject({ text: "Here I am.", stopReason: "final" });
  });

  test("returns the message of a provider that stays busy as an outcome; the question can be repeated", async () => {
    models.say([{ status: 429, message: "too many" }, { status: 429, message: "too many" }, { text: "Now." }]);
    const agent = agentOf(model, { maxRetries: 1 });
    expect(await agent.chat("hello")).toMatchObject({
      stopReason: "error",
      error: { status: 429, retryable: true, message: expect.stringContaining("too many") },
    });
    expect(agent.history).toEqual([]);
    expect(await agent.chat("hello")).toMatchObject({ text: "Now." });
  });

  test.each([false, true])("returns an outcome for a reply that is not JSON (streamed: %s)", async (isHeard) => {
    models.say([{ text: "x", broken: "{not json" }]);
    expect(await agentOf(model, { maxRetries: 0 }).chat("hello", isHeard ? { onEvent: () => {} } : {})).toMatchObject({
      stopReason: "error",
      steps: [],
    });
  });

  test("reports an unknown tool and a failure to the model, which continues", async () => {
    models.say([
      {
        calls: [
          { name: "subtract", arguments: {} },
          { name: "fails", arguments: {} },
          { name: "add", arguments: { a: "x" } },
        ],
      },
      { text: "I give up." },
    ]);
    const { stopReason, steps } = await agentOf(model).chat("Try it");
    expect(stopReason).toBe("final");
    expect(steps[0]!.calls.map(({ tool, ok, kind }) => [tool, ok, kind])).toEqual([
      ["subtract", false, "unknown_tool"],
      ["fails", false, "tool_error"],
      ["add", false, "invalid_params"],
    ]);
    expect(sent()).toContain("the printer is on fire");
  });

  test.each([false, true])("reports that the model refused, without an answer (streamed: %s)", async (isHeard) => {
    models.say([{ refusal: "I may not." }]);
    const outcome = await agentOf(model).chat("Do evil", isHeard ? { onEvent: () => {} } : {});
    expect(outcome).toMatchObject({
      stopReason: "error",
      text: expect.stringMatching(/^The model returned no answer: ./),
      error: { message: expect.any(String) },
    });
  });

  test("a truncated reply ends with max_tokens", async () => {
    models.say([{ text: "Once upon a", isCut: true }]);
    expect(await agentOf(model).chat("Tell a story")).toMatchObject({ stopReason: "max_tokens", text: "Once upon a" });
  });

  test("cancelling stops the model while it streams text", async () => {
    models.say([{ text: "And so on and so on", hangs: true }]);
    const stop = new AbortController();
    const agent = agentOf(model);
    const running = agent.chat("Talk", { signal: stop.signal, onEvent: ({ type }) => type === "text" && stop.abort() });
    expect(await running).toMatchObject({ stopReason: "cancelled", text: "Cancelled" });
    await asked()[0]!.left;
    models.say([{ text: "Still here." }]);
    expect(await agent.chat("Are you there?")).toMatchObject({ text: "Still here." });
  });

  test("another agent continues a saved conversation", async () => {
    models.say([call("add", { a: 1, b: 1 }), { text: "Two." }, { text: "I said two." }]);
    const first = agentOf(model);
    await first.chat("1+1?");
    const second = agentOf(model);
    await second.restore(JSON.parse(JSON.stringify(first.save())));
    expect(await second.chat("What did you say?")).toMatchObject({ text: "I said two." });
    for (const words of ["1+1?", "Two.", "What did you say?"]) expect(sent()).toContain(words);
  });
});

test.each(BREAKABLE)("returns malformed arguments of %s to the model, which corrects them", async (model) => {
  models.say([call("add", '{"a": 1, "b"'), call("add", { a: 1, b: 2 }), { text: "Three." }]);
  const { text, steps } = await agentOf(model).chat("1+2?");
  expect(text).toBe("Three.");
  expect(steps.map(({ calls }) => calls.map(({ ok, kind }) => [ok, kind]))).toEqual([
    [[false, "invalid_params"]],
    [[true, undefined]],
    [],
  ]);
  expect(sent(1)).toContain("must be one JSON object");
});

test("returns malformed arguments to the model if Anthropic sends them in a stream", async () => {
  models.say([call("add", '{"a": 1, "b"'), { text: "Never mind." }]);
  expect(await agentOf("anthropic/claude-x").chat("1+2?", { onEvent: () => {} })).toMatchObject({
    stopReason: "final",
  });
  expect(sent()).toContain("must be one JSON object");
});

describe("limits", () => {
  const endless = (): ScriptedReply => call("add", { a: 1, b: 1 });

  test("C13: stops endless tool calls after five requests by default, and reports that in the outcome", async () => {
    models.say(endless);
    expect(await agentOf("mistral/m").chat("Go on")).toMatchObject({
      stopReason: "max_iterations",
      text: "Maximum number of iterations reached",
      steps: { length: 5 },
    });
    expect(asked()).toHaveLength(5);
  });

  test("C13: the agent or one question can set another limit", async () => {
    models.say(endless);
    const agent = agentOf("openai/gpt-x", { maxIterations: 2 });
    expect((await agent.chat("Go on")).steps).toHaveLength(2);
    expect((await agent.chat("Go on", { maxIterations: 3 })).steps).toHaveLength(3);
    expect(() => agentOf("openai/gpt-x", { maxIterations: 0 })).toThrow(OptionError);
  });

  test("C13: at the limit, can request a last answer without tools", async () => {
    models.say((one) =>
      one.body["tool_choice"] === "none" || one.body["tools"] === undefined
        ? { text: "As far as I know, 2." }
        : endless(),
    );
    const outcome = await agentOf("openai-chat/gpt-x", { maxIterations: 2, finalAnswer: true }).chat("Go on");
    expect(outcome).toMatchObject({ stopReason: "max_iterations", text: "As far as I know, 2.", steps: { length: 2 } });
    expect(asked()).toHaveLength(3);
  });

  test("answers calls beyond the limit of tool calls without making them", async () => {
    models.say([{ calls: [1, 2, 3].map((a) => ({ name: "add", arguments: { a, b: 0 } })) }]);
    const outcome = await agentOf("openai/gpt-x", { maxToolCalls: 2 }).chat("Add");
    expect(outcome).toMatchObject({ stopReason: "max_tool_calls", text: "Maximum number of tool calls reached" });
    expect(outcome.steps[0]!.calls.map(({ ok, kind }) => [ok, kind])).toEqual([
      [true, undefined],
      [true, undefined],
      [false, "limited"],
    ]);
  });

  test("limits the tokens of all questions together", async () => {
    models.say(() => ({ ...endless(), usage: { input: 600, output: 10 } }));
    expect(await agentOf("anthropic/claude-x", { maxTokens: 1000 }).chat("Go on")).toMatchObject({
      stopReason: "max_tokens",
      usage: { totalTokens: 1220 },
      steps: { length: 2 },
    });
  });

  test("limits the time of the model and of a tool", async () => {
    models.say([{ hangs: true }]);
    expect(await agentOf("mistral/m", { timeout: "60ms" }).chat("hello")).toMatchObject({
      stopReason: "timeout",
      text: "The time limit for this answer is reached",
    });
    models.say([call("hang")]);
    const outcome = await agentOf("mistral/m", { timeout: "500ms" }).chat("hello");
    expect(outcome).toMatchObject({ stopReason: "timeout", steps: [{ calls: [{ tool: "hang", ok: false }] }] });
  });

  test("runs calls of one reply concurrently, up to the limit", async () => {
    const calls = Array.from({ length: 9 }, (_, index) => ({ id: `c${index}`, name: "slow_step", arguments: {} }));
    models.say([{ calls }, { text: "Done." }, { calls }, { text: "Done." }]);
    load.most = 0;
    await agentOf("openai/gpt-x", { maxParallelCalls: 3 }).chat("Go");
    expect(load.most).toBe(3);
    load.most = 0;
    await agentOf("openai/gpt-x", { maxParallelCalls: 1 }).chat("Go");
    expect(load.most).toBe(1);
  });

  test("truncates a long result and marks the truncation", async () => {
    models.say([call("say", { text: "x".repeat(5000) }), { text: "Long." }]);
    await agentOf("openai-chat/gpt-x", { maxResultBytes: "1KiB" }).chat("Say it");
    const result = (asked().at(-1)!.body["messages"] as { role: string; content: string }[]).find(
      ({ role }) => role === "tool",
    )!;
    expect(result.content).toMatch(/^x{1024}\n\[truncated here: the result has 5000 bytes\]$/);
  });

  test("removes the oldest questions when the conversation is full", async () => {
    models.say(() => ({ text: "Yes." }));
    const agent = agentOf("mistral/m", { maxHistoryMessages: 4 });
    for (const question of ["one", "two", "three"]) await agent.chat(question);
    expect(agent.history.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(agent.history.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(["two", "three"]);
  });
});

test("cancelling ends the running tools, answers every call, and keeps the conversation usable", async () => {
  models.say([
    {
      calls: [
        { id: "one", name: "hang", arguments: {} },
        { id: "two", name: "hang", arguments: {} },
      ],
    },
    { text: "Go ahead." },
  ]);
  const stop = new AbortController();
  let [running, over] = [0, 0];
  hanging.started = () => void ((running += 1) === 2 && stop.abort());
  const ended = new Promise<void>((resolve) => void (hanging.ended = () => void ((over += 1) === 2 && resolve())));
  const agent = agentOf("anthropic/claude-x");
  expect(await agent.chat("Wait", { signal: stop.signal })).toMatchObject({ stopReason: "cancelled" });
  await ended;
  expect(await agent.chat("Hello?")).toMatchObject({ text: "Go ahead." });
  for (const id of ["one", "two"]) expect(sent()).toContain(`"tool_use_id":"${id}"`);
});

test("C47: the agent's own texts are French if French is configured; the model's text is unchanged", async () => {
  models.say(() => call("add", { a: 1, b: 1 }));
  const agent = agentOf("mistral/m", { locale: "fr", maxIterations: 1 });
  expect(await agent.chat("Continue")).toMatchObject({ text: "Max iterations atteintes" });
  models.say([{ text: "It is done." }]);
  expect(await agent.chat("Alors ?")).toMatchObject({ text: "It is done." });
  expect(sent()).toContain("Tu réponds aux questions");
});

describe("C42: model providers", () => {
  test("C42: reaches each vendor and any compatible server by its provider name", async () => {
    for (const model of VENDORS) {
      models.say([{ text: `I am ${model}.` }]);
      expect(await agentOf(model).chat("Who are you?")).toMatchObject({ text: `I am ${model}.` });
    }
    expect(asked().map(({ path }) => path.split("/")[1])).toEqual([
      "openai",
      "openai",
      "anthropic",
      "mistral",
      "google",
      "compatible",
    ]);
  });

  test("C42: refuses an unknown name and a missing key before any request", () => {
    expect(() => createAgent({ model: "gpt-x", hub })).toThrow(/`provider\/model`/);
    expect(() => createAgent({ hub })).toThrow(/No model is configured/);
    expect(() => createAgent({ model: "mistral/m", hub, variables: {} })).toThrow(
      "There is no key for mistral: set the variable MISTRAL_API_KEY, or `api_key` in [models.providers.mistral].",
    );
  });
});

describe("images in results", () => {
  test.each([
    ["openai/gpt-x", true],
    ["openai-chat/gpt-x", true],
    ["anthropic/claude-x", true],
    ["google/gemini-x", true],
    ["mistral/m", false],
    ["local/qwen", false],
  ])("for %s, sends an image of a tool: %s", async (model, reaches) => {
    models.say([call("picture"), { text: "A red dot." }]);
    expect(await agentOf(model).chat("Draw")).toMatchObject({ text: "A red dot." });
    expect(sent().includes(RED_DOT)).toBe(reaches);
    if (!reaches) expect(sent()).toContain("not shown to this model");
  });

  test("sends images to a compatible provider that is configured for them", async () => {
    models.say([call("picture"), { text: "A red dot." }]);
    await agentOf("local/llava", { attachments: "always" }).chat("Draw");
    const [, , result, picture] = (asked().at(-1)!.body["messages"] as { role: string; content: unknown }[]).slice(1);
    expect([result!.role, picture!.role]).toEqual(["tool", "user"]);
    expect(JSON.stringify(picture!.content)).toContain(`data:image/png;base64,${RED_DOT}`);
  });

  test("sends images to no model if they are disabled", async () => {
    models.say([call("picture"), { text: "Something." }]);
    await agentOf("anthropic/claude-x", { attachments: "never" }).chat("Draw");
    expect(sent()).not.toContain(RED_DOT);
  });
});

describe("streaming", () => {
  test("emits events in order, and the outcome last", async () => {
    models.say([{ text: "I add.", calls: [{ id: "c1", name: "add", arguments: { a: 1, b: 2 } }] }, { text: "Three." }]);
    const events: AgentEvent[] = [];
    for await (const event of agentOf("anthropic/claude-x").stream("1+2?")) events.push(event);
    expect(events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1])).toEqual([
      "step",
      "text",
      "call",
      "result",
      "step",
      "text",
      "outcome",
    ]);
    expect(events.find(({ type }) => type === "result")).toMatchObject({ id: "c1", tool: "add", ok: true, value: 3 });
    expect(events.at(-1)).toMatchObject({ type: "outcome", outcome: { text: "Three.", stopReason: "final" } });
  });

  test("ends the answer when the reader stops early", async () => {
    models.say([{ text: "And so on", hangs: true }]);
    const stream = agentOf("openai/gpt-x").stream("Talk");
    for await (const event of stream) if (event.type === "text") break;
    expect(await stream.outcome).toMatchObject({ stopReason: "cancelled" });
    await asked()[0]!.left;
  });

  test("refuses a second question while the first is being answered", async () => {
    models.say([{ hangs: true }]);
    const [agent, stop] = [agentOf("mistral/m"), new AbortController()];
    const first = agent.chat("one", { signal: stop.signal });
    await expect(agent.chat("two")).rejects.toThrow("still answering");
    stop.abort();
    await first;
  });
});

test("refuses a value that is not a saved conversation, and keeps the current conversation", async () => {
  models.say([{ text: "Yes." }]);
  const agent = agentOf("mistral/m");
  await agent.chat("one");
  await expect(agent.restore({ version: 1, messages: [{ role: "robot", content: "x" }] as never })).rejects.toThrow(
    OptionError,
  );
  expect(agent.history).toHaveLength(2);
  agent.clear();
  expect(agent.history).toEqual([]);
});

test("repeats a briefly limited call within the time limit of the answer, without a request to the model", async () => {
  const narrow = await createHub({
    settings: { modules: { paths: [toolsFile] }, limits: { rate_per_minute: 60 } },
    logger: SILENT_LOGGER,
  });
  try {
    for (let at = 0; at < 60; at += 1) await narrow.call("add", { a: at, b: 1 });
    expect(await narrow.call("add", { a: 1, b: 1 })).toMatchObject({ kind: "limited" });
    models.say([call("add", { a: 2, b: 3 }), { text: "It is 5." }]);
    const outcome = await agentOf("local/qwen", { hub: narrow }).chat("What is 2+3?");
    expect(outcome).toMatchObject({ text: "It is 5.", steps: [{ calls: [{ tool: "add", ok: true }] }, {}] });
  } finally {
    await narrow.close();
  }
});
