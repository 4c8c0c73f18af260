// The cost of the agent's loop compared with the model, and the tokens of tool lists.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateText, jsonSchema, tool } from "ai";
import { countTokens } from "gpt-tokenizer";
import { createAgent, toOpenAITools } from "../../packages/toolyard/dist/agent.js";
import { createHub } from "../../packages/toolyard/dist/index.js";
import { least, ms, timed } from "../lib/measure.mjs";

const STEPS = 5;

export async function measureAgent(bench) {
  for (const count of [20, 200]) await steps(bench, count);
  for (const count of [20, 200, 2000]) await tokens(bench, count);
}

/** Opens a hub in this process; every fifth tool is listed, the others are found by search. */
async function withTools(bench, count, work) {
  const folder = join(bench.folder(), "many");
  mkdirSync(folder);
  writeFileSync(join(folder, "mcp.mjs"), MODULE.replace("COUNT", String(count)));
  const hub = await createHub({
    settings: { modules: { paths: [folder] }, logging: { level: "error" } },
    variables: { TOOLYARD_HOME: bench.folder() },
  });
  try {
    await work(hub);
  } finally {
    await hub.close();
  }
}

/** Module with many tools that have typical arguments of public tools: four arguments, described in sentences. */
const MODULE = `
const things = ["customer", "invoice", "shipment", "ticket", "calendar entry", "document", "sensor", "repository"];
const verbs = ["Finds", "Creates", "Updates", "Deletes", "Summarises"];
export function registerTools(hub) {
  for (let index = 0; index < COUNT; index += 1) {
    const thing = things[index % things.length];
    hub.registerTool("many.tool_" + index, ({ text }) => ({ text, found: 3 }), {
      type: "object",
      properties: {
        text: { type: "string", description: "What the " + thing + " is called, or words in its name" },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 10, description: "How many at most" },
        order: { type: "string", enum: ["newest", "oldest", "best"], description: "Which come first" },
        since: { type: "string", format: "date-time", description: "Only those that changed after this moment" },
      },
      required: ["text"],
    },
    verbs[index % verbs.length] + " a " + thing + " in workspace " + index +
      ", and reports who changed it and how.",
    { visibility: index % 5 === 0 ? "native" : "ondemand" });
  }
}
`;

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = (unified, content) => ({ content: [content], finishReason: { unified }, usage, warnings: [] });

/** Returns a model that answers immediately: first with a fixed number of tool calls, then with a text. */
function instantModel() {
  let said = 0;
  return {
    specificationVersion: "v3",
    provider: "bench",
    modelId: "instant",
    supportedUrls: {},
    doGenerate: async () => {
      said = (said + 1) % STEPS;
      return said === 0
        ? finish("stop", { type: "text", text: "done" })
        : finish("tool-calls", {
            type: "tool-call",
            toolCallId: `c${said}`,
            toolName: "many_tool_0",
            input: '{"text":"hello"}',
          });
    },
  };
}

async function steps(bench, count) {
  await withTools(bench, count, async (hub) => {
    const agent = createAgent({ model: instantModel(), hub, mode: "all", maxIterations: STEPS });
    const rounds = bench.quick ? 6 : 20;
    const loop = await perStep(rounds, async () => {
      const { stopReason } = await agent.chat("go");
      if (stopReason !== "final") throw new Error(`The agent ended with ${stopReason}.`);
      agent.clear();
    });
    const call = await perStep(rounds, async () => {
      for (let turn = 0; turn < STEPS; turn += 1) await hub.call("many.tool_0", { text: "hello" });
    });
    const sdk = await perStep(rounds, bareSteps(await hub.list({ mode: "all" })));
    bench.report(
      `the agent's loop, ${count} tools, an instant model`,
      `${ms(loop)} a step; of which ${ms(sdk)} the AI SDK with the same tools and messages, ${ms(call)} the tool call`,
    );
  });
}

/** Runs the same prompts with only the AI SDK, without a loop and without tool calls. */
function bareSteps(listed) {
  const tools = Object.fromEntries(
    toOpenAITools(listed).map(({ function: { name, description, parameters } }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters) }),
    ]),
  );
  const model = instantModel();
  return async () => {
    const messages = [{ role: "user", content: "go" }];
    for (let turn = 0; turn < STEPS; turn += 1) {
      const { response, toolCalls } = await generateText({ model, tools, messages });
      messages.push(...response.messages);
      if (toolCalls.length > 0)
        messages.push({
          role: "tool",
          content: toolCalls.map(({ toolCallId, toolName }) => ({
            type: "tool-result",
            toolCallId,
            toolName,
            output: { type: "json", value: { text: "hello", found: 3 } },
          })),
        });
    }
  };
}

async function perStep(rounds, work) {
  const took = [];
  for (let round = 0; round <= rounds; round += 1) {
    const wall = await timed(async () => {
      for (let turn = 0; turn < 10; turn += 1) await work();
    });
    if (round > 0) took.push(wall / (10 * STEPS));
  }
  return least(took);
}

async function tokens(bench, count) {
  await withTools(bench, count, async (hub) => {
    const shown = [];
    for (const mode of ["normal", "discovery", "all"]) {
      const listed = await hub.list({ mode });
      shown.push(
        `${mode} ${countTokens(JSON.stringify(toOpenAITools(listed))).toLocaleString("en-US")} ` +
          `(${listed.length} tools)`,
      );
    }
    bench.report(`tokens of the tool list, ${count} tools, one in five listed`, shown.join("; "));
  });
}
