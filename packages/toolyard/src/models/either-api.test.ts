import { expect, test } from "vitest";
import { eitherApi } from "./either-api.ts";
import type { LoadedLanguageModel } from "./given-model.ts";

const failing = (statusCode: number) => () =>
  Promise.reject(Object.assign(new Error(`HTTP ${statusCode}`), { statusCode }));
const answering = (text: string) => () => Promise.resolve(text);

function model(provider: string, work: () => Promise<unknown>): LoadedLanguageModel & { calls: number } {
  const made = {
    specificationVersion: "v3",
    provider,
    modelId: "m",
    calls: 0,
    doGenerate: () => ((made.calls += 1), work()),
    doStream: () => ((made.calls += 1), work()),
  };
  return made;
}

let server = 0;
const either = (responses: () => Promise<unknown>, chat: () => Promise<unknown>) => {
  const models = { responses: model("responses", responses), chat: model("chat", chat) };
  server += 1;
  return { ...models, wrapped: eitherApi<LoadedLanguageModel>(models.responses, models.chat, `http://s${server}/v1`) };
};
const ask = (wrapped: LoadedLanguageModel) => wrapped.doGenerate(undefined as never);

test("uses the Responses API if the server supports it", async () => {
  const { wrapped, chat } = either(answering("responses"), answering("chat"));
  expect([await ask(wrapped), await wrapped.doStream(undefined as never), wrapped.provider]).toEqual([
    "responses",
    "responses",
    "responses",
  ]);
  expect(chat.calls).toBe(0);
});

test.each([404, 405, 501, 200])(
  "uses chat completions after the status %i, and does not try the Responses API again",
  async (status) => {
    const { wrapped, responses } = either(failing(status), answering("chat"));
    expect([await ask(wrapped), await wrapped.doStream(undefined as never)]).toEqual(["chat", "chat"]);
    expect(responses.calls).toBe(1);
    expect(wrapped.provider).toBe("chat");
  },
);

test.each([400, 401, 429, 500])("does not try chat completions after the status %i", async (status) => {
  const { wrapped, chat } = either(failing(status), answering("chat"));
  await expect(ask(wrapped)).rejects.toThrow(`HTTP ${status}`);
  expect(chat.calls).toBe(0);
});

test("rejects with the error of the API that the server has", async () => {
  const unknownModel = either(failing(404), failing(400));
  await expect(ask(unknownModel.wrapped)).rejects.toThrow("HTTP 400");
  const neither = either(failing(405), failing(404));
  await expect(ask(neither.wrapped)).rejects.toThrow("HTTP 405");
  await expect(ask(neither.wrapped)).rejects.toThrow("HTTP 405");
  expect(neither.responses.calls).toBe(2);
});
