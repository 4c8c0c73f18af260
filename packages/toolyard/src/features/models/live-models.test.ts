import { afterEach, expect, test } from "vitest";
import { sendJson, startServer } from "../../../../../test/fixtures/http-servers.ts";
import type { ModelsConfig } from "../../models/options.ts";
import { LiveModels } from "./live-models.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

test("offers text and images only if the current configuration has a model for them", () => {
  let config: ModelsConfig | undefined;
  const models = new LiveModels(() => config, {});
  opened.push(models);
  expect([models.generateImage, models.generateText]).toEqual([undefined, undefined]);
  config = { image: "openai/dall-e-3" };
  expect([models.generateImage, models.generateText]).toEqual([expect.any(Function), undefined]);
  config = { language: "openai/gpt" };
  expect([models.generateImage, models.generateText]).toEqual([undefined, expect.any(Function)]);
});

test("returns the text of the configured language model, and its refusal unchanged", async () => {
  const asked: object[] = [];
  const server = await startServer(
    (request, response) => {
      let text = "";
      request
        .on("data", (chunk: Buffer) => (text += chunk.toString()))
        .on("end", () => {
          const body = JSON.parse(text) as { model: string };
          asked.push(body);
          if (body.model !== "m")
            return sendJson(response, 401, { error: { message: "no", type: "invalid_request_error" } });
          sendJson(response, 200, {
            id: "1",
            object: "chat.completion",
            created: 1,
            model: "m",
            choices: [{ index: 0, message: { role: "assistant", content: "An otter." }, finish_reason: "stop" }],
            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          });
        });
    },
    { path: "/v1" },
  );
  const models = new LiveModels(() => ({ language: "mine/m", providers: { mine: { base_url: server.url } } }), {});
  opened.push(server, models);
  const { signal } = new AbortController();
  expect(
    await models.generateText?.({ prompt: "Who?", system: "Be short.", maxTokens: 5, temperature: 0 }, signal),
  ).toEqual({ text: "An otter." });
  expect(asked[0]).toMatchObject({
    messages: [
      { role: "system", content: "Be short." },
      { role: "user", content: "Who?" },
    ],
    max_tokens: 5,
    temperature: 0,
  });
  await expect(models.generateText?.({ prompt: "Who?", model: "mine/other" }, signal)).rejects.toMatchObject({
    failure: { kind: "denied" },
  });
});

test("reports a model with an unreachable server as unavailable", async () => {
  const gone = await startServer(() => {}, { path: "/v1" });
  await gone.close();
  const models = new LiveModels(() => ({ language: "mine/m", providers: { mine: { base_url: gone.url } } }), {});
  opened.push(models);
  await expect(models.generateText?.({ prompt: "Who?" }, new AbortController().signal)).rejects.toMatchObject({
    failure: { kind: "unavailable", message: expect.stringContaining("mine refused the connection") },
  });
});

test("cancels the request when the caller disconnects", async () => {
  const caller = new AbortController();
  const server = await startServer(() => caller.abort(), { path: "/v1" });
  const models = new LiveModels(() => ({ language: "mine/m", providers: { mine: { base_url: server.url } } }), {});
  opened.push(server, models);
  await expect(models.generateText?.({ prompt: "Who?" }, caller.signal)).rejects.toMatchObject({
    failure: { kind: "cancelled" },
  });
});
