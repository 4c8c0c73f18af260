// A conversation as the next question sends it, after each possible end of the previous question.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAgent, type AgentState } from "../../packages/toolyard/src/agent.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { startModels, type ModelStandIn } from "./stand-in.ts";
import { toolsFile } from "./tools-file.ts";

const VENDORS = [
  "openai/gpt-x",
  "openai-chat/gpt-x",
  "anthropic/claude-x",
  "mistral/mistral-large-latest",
  "google/gemini-x",
  "local/qwen",
] as const;
const QUESTION = { role: "user", content: "1+1?" } as const;
const callOf = (toolCallId: string) =>
  ({ type: "tool-call", toolCallId, toolName: "add", input: { a: 1, b: 1 } }) as const;
const RESULT = { type: "tool-result", toolCallId: "one", toolName: "add", output: { type: "json", value: 2 } } as const;

let models: ModelStandIn;
let hub: LibraryHub;
beforeAll(async () => {
  models = await startModels();
  hub = await createHub({ settings: { modules: { paths: [toolsFile] } }, logger: SILENT_LOGGER });
});
afterAll(async () => {
  await hub?.close();
  await models?.close();
});

const agentOf = (model: string) => createAgent({ model, hub, models: models.models });
const stateOf = (...messages: unknown[]): AgentState => ({ version: 1, messages }) as AgentState;

test.each(VENDORS)("continues a conversation that was saved during its calls with %s", async (model) => {
  const agent = agentOf(model);
  await agent.restore(
    stateOf(
      QUESTION,
      { role: "assistant", content: [callOf("one"), callOf("two")] },
      { role: "tool", content: [RESULT] },
    ),
  );
  expect(agent.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
  models.say([{ text: "Two." }]);
  expect(await agent.chat("Go on.")).toMatchObject({ text: "Two.", stopReason: "final" });
  expect(JSON.stringify(models.asked.at(-1)!.body).split("Not finished").length).toBeGreaterThan(1);
});

test("keeps a saved conversation unchanged if each of its calls has an answer", async () => {
  const agent = agentOf("mistral/m");
  const whole = stateOf(
    QUESTION,
    { role: "assistant", content: [callOf("one")] },
    { role: "tool", content: [RESULT] },
    { role: "assistant", content: "Two." },
  );
  await agent.restore(whole);
  expect(agent.save()).toEqual(whole);
});

test.each(VENDORS)(
  "blank text (%s) does not count as an answer, and adds no empty message to the history",
  async (model) => {
    const agent = agentOf(model);
    models.say([{ calls: [{ name: "add", arguments: { a: 1, b: 1 } }] }, { text: "  \n" }]);
    expect(await agent.chat("1+1?")).toMatchObject({
      stopReason: "error",
      error: { message: "its reply is empty (stop)", retryable: true },
    });
    const last = agent.history.at(-1)!;
    expect([agent.history.length, last.role, JSON.stringify(last.content)]).toEqual([
      4,
      "assistant",
      expect.stringContaining("reply is empty"),
    ]);
    models.say([{ text: "Two." }]);
    expect(await agent.chat("Again?")).toMatchObject({ text: "Two.", stopReason: "final" });
  },
);
