import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAgent, type AgentEvent } from "../../src/agent.ts";
import { createHub, type LibraryHub } from "../../src/index.ts";
import { startModels, type ModelStandIn } from "./stand-in.ts";
import { fileURLToPath } from "node:url";

const toolsFile = fileURLToPath(new URL("./tools.mjs", import.meta.url));

const VENDORS = ["openai/gpt-x", "openai-chat/gpt-x", "anthropic/claude-x", "mistral/mistral-large-latest", "google/gemini-x", "local/qwen"] as const;

let models: ModelStandIn;
let hub: LibraryHub;
beforeAll(async () => {
  models = await startModels();
  hub = await createHub({ settings: { modules: { paths: [toolsFile] }, logging: { level: "error" } } });
});
afterAll(async () => {
  await hub?.close();
  await models?.close();
});
let from = 0;
beforeEach(() => {
  from = models.asked.length;
});
const asked = (): readonly { body: Record<string, unknown>; isStream: boolean }[] => models.asked.slice(from);

describe.each(VENDORS)("with %s", (model) => {
  test.each([false, true])("two calls of one reply are made and answered, then the text is the answer (streamed: %s)", async (isHeard) => {
    models.say([
      { calls: [{ name: "add", arguments: { a: 2, b: 3 } }, { name: "add", arguments: { a: 4, b: 5 } }] },
      { text: "It is 5 and 9." },
    ]);
    const events: AgentEvent[] = [];
    const agent = createAgent({ model, hub, models: models.models });
    const outcome = await agent.chat("What is 2+3 and 4+5?", isHeard ? { onEvent: (event) => events.push(event) } : {});
    expect(outcome).toMatchObject({ text: "It is 5 and 9.", stopReason: "final", usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 } });
    expect(outcome.steps.map(({ calls }) => calls.map(({ tool, arguments: args, value }) => [tool, args, value]))).toEqual([
      [["add", { a: 2, b: 3 }, 5], ["add", { a: 4, b: 5 }, 9]],
      [],
    ]);
    expect(asked().map(({ isStream }) => isStream)).toEqual([isHeard, isHeard]);
    if (isHeard) expect(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toBe("It is 5 and 9.");
  });
});
