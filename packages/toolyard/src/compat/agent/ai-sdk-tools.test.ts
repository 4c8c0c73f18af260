import { generateText, stepCountIs, type ToolSet } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHub, type LibraryHub } from "../../hub/create-hub.ts";
import { toAiSdkTools } from "./ai-sdk-tools.ts";

let hub: LibraryHub;

beforeEach(async () => {
  hub = await createHub({
    variables: {},
    settings: { logging: { level: "error" } },
    registerTools: (own) => {
      const schema = { type: "object", properties: { depth: { type: "integer", minimum: 1 } }, required: ["depth"] };
      own.registerTool("well.dig", ({ depth }: { depth: number }) => ({ metres: depth * 3 }), schema, "Digs");
      own.registerTool("photo", () => new Blob([new Uint8Array([137, 80])], { type: "image/png" }));
      own.registerTool(
        "hang",
        (_args, { signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("given up")));
          }),
      );
    },
  });
});

afterEach(() => hub.close());

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes one call, then repeats the result. */
function modelThatCalls(toolName: string, input: object) {
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1)!;
      return last.role === "tool"
        ? reply({ type: "text", text: JSON.stringify(last.content) }, "stop")
        : reply({ type: "tool-call", toolCallId: "c1", toolName, input: JSON.stringify(input) }, "tool-calls");
    },
  });
}

function reply<C>(content: C, reason: "stop" | "tool-calls") {
  return { content: [content], finishReason: { unified: reason, raw: reason }, usage: USAGE, warnings: [] };
}

async function answerTo(toolName: string, input: object): Promise<unknown> {
  const tools: ToolSet = await toAiSdkTools(hub);
  const { text } = await generateText({
    model: modelThatCalls(toolName, input),
    tools,
    prompt: "go",
    stopWhen: stepCountIs(3),
  });
  return (JSON.parse(text) as { output: unknown }[])[0]!.output;
}

test("passes the hub's tools to a model of the AI SDK, with names and schemas for every vendor", async () => {
  const model = modelThatCalls("well_dig", { depth: 2 });
  await generateText({ model, tools: await toAiSdkTools(hub), prompt: "go" });
  const given = model.doGenerateCalls[0]!.tools!;
  expect(given.map(({ name }) => name)).toEqual(expect.arrayContaining(["well_dig", "photo"]));
  expect(given.find(({ name }) => name === "well_dig")).toMatchObject({
    description: "Digs",
    inputSchema: { type: "object", properties: { depth: { type: "integer", minimum: 1 } }, required: ["depth"] },
  });
});

test("passes results to the model: values as JSON, images as images, refusals with the hub's message", async () => {
  expect(await answerTo("well_dig", { depth: 2 })).toEqual({ type: "json", value: { metres: 6 } });
  expect(await answerTo("photo", {})).toMatchObject({
    type: "content",
    value: [{ type: "image-data", data: "iVA=", mediaType: "image/png" }],
  });
  expect(await answerTo("well_dig", { depth: 0 })).toMatchObject({
    type: "error-text",
    value: expect.stringContaining("depth") as string,
  });
});

test("cancels a call when its answer ends, and refuses an object without a tool list", async () => {
  const tools = await toAiSdkTools(hub);
  const leaving = new AbortController();
  const running = tools["hang"]!.execute({}, { abortSignal: leaving.signal });
  leaving.abort();
  await expect(running).rejects.toThrow();
  await expect(toAiSdkTools("http://localhost" as never)).rejects.toThrow("`toAiSdkTools` requires a hub");
});

test("accepts a client with `listTools` and `callTool`", async () => {
  const tools = await toAiSdkTools({
    listTools: () => Promise.resolve([{ name: "add", description: "Adds", input_schema: { type: "object" } }]),
    callTool: (tool: string, args: object) => Promise.resolve({ tool, ...args }),
  } as never);
  expect(tools["add"]!.toModelOutput({ output: await tools["add"]!.execute({ a: 1 }, {}) })).toEqual({
    type: "json",
    value: { tool: "add", a: 1 },
  });
});
