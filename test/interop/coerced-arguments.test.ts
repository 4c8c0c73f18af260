// Numbers and booleans that a model wrote as text: the hub accepts from callers what an official server accepts.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { serveHub } from "../fixtures/served-hub.ts";

const SCRIPT = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-sequential-thinking/dist/index.js");
const env = { DISABLE_THOUGHT_LOGGING: "true" };
const ARGUMENTS = { thought: "So", nextThoughtNeeded: "False", thoughtNumber: "1", totalThoughts: "2" };
const THOUGHT = { thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: false };

async function direct(args: JsonObject): Promise<unknown> {
  const client = new ClientV1({ name: "direct", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SCRIPT], env, stderr: "ignore" }));
  try {
    return (await client.callTool({ name: "sequentialthinking", arguments: args }))["structuredContent"];
  } finally {
    await client.close();
  }
}

function serveThinking(validation?: "coerce" | "strict" | "off"): ReturnType<typeof serveHub> {
  const think = { command: [process.execPath, SCRIPT], env, namespace: "", ...(validation && { validation }) };
  return serveHub({ mcp: { stdio_servers: { think } } }, "HTTP");
}

test.each(["legacy", "modern"] as const)(
  "a %s client gets the same answer through the hub as directly",
  async (era) => {
    expect(await direct(ARGUMENTS)).toMatchObject(THOUGHT);
    await using hub = await serveThinking();
    const client = await hub.connect({ era });
    expect((await client.tool("sequentialthinking", ARGUMENTS))["structuredContent"]).toMatchObject(THOUGHT);
  },
);

test("plain HTTP and the library also accept text for numbers", async () => {
  await using hub = await serveThinking();
  const answer = await fetch(new URL("/api/tools/sequentialthinking", hub.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ARGUMENTS),
  });
  expect(JSON.stringify(await answer.json())).toContain('"thoughtNumber":1');
  const outcome = await hub.library!.call("sequentialthinking", ARGUMENTS);
  expect(outcome.ok && isJsonObject(outcome.result) && outcome.result["structuredContent"]).toMatchObject(THOUGHT);
});

test("a source with `strict` refuses the text; with `off` the server receives it", async () => {
  await using strict = await serveThinking("strict");
  expect(await strict.library!.call("sequentialthinking", ARGUMENTS)).toMatchObject({
    ok: false,
    kind: "invalid_params",
    message: expect.stringContaining("`thoughtNumber` must be an integer, got a string"),
  });
  await using off = await serveThinking("off");
  expect(await off.library!.call("sequentialthinking", ARGUMENTS)).toMatchObject({ ok: true });
  const wrong = await off.library!.call("sequentialthinking", { ...ARGUMENTS, thoughtNumber: "one" });
  expect(wrong).toMatchObject({ ok: false, message: expect.stringContaining("thoughtNumber") });
});
