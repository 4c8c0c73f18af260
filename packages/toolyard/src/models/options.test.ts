import { expect, test } from "vitest";
import { OptionError } from "../core/errors.ts";
import { loadLanguageModel } from "./language-model.ts";
import { resolveModels } from "./options.ts";

test("the vendors and a local Ollama need no entry, and their usual variables apply", () => {
  const { providers } = resolveModels(
    {},
    { OPENAI_API_KEY: "k1", ANTHROPIC_BASE_URL: "https://proxy.example.com/", GEMINI_API_KEY: "k2" },
  );
  expect(Object.keys(providers)).toEqual(["openai", "anthropic", "mistral", "google", "ollama"]);
  expect(providers["openai"]).toMatchObject({ kind: "openai", apiKey: "k1", api: "responses" });
  expect(providers["anthropic"]).toMatchObject({ baseUrl: "https://proxy.example.com/v1" });
  expect(providers["google"]).toMatchObject({ apiKey: "k2" });
  expect(providers["ollama"]).toMatchObject({
    kind: "openai-compatible",
    baseUrl: "http://127.0.0.1:11434/v1",
    needsKey: false,
  });
});

test("the configuration overrides variables, and its URL is used unchanged", () => {
  const raw = {
    providers: {
      openai: { api_key: "own", base_url: "http://127.0.0.1:9/proxy" },
      "my-vllm": { base_url: "http://127.0.0.1:8000/v1" },
    },
  };
  const { providers } = resolveModels(raw, { OPENAI_API_KEY: "other", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" });
  expect(providers["openai"]).toMatchObject({ apiKey: "own", baseUrl: "http://127.0.0.1:9/proxy", api: "detect" });
  expect(providers["my-vllm"]).toMatchObject({ kind: "openai-compatible", baseUrl: "http://127.0.0.1:8000/v1" });
});

test.each([
  [{ language: "gpt" }, /`provider\/model`.*got "gpt"/],
  [{ language: "opnai/gpt" }, /"opnai".*Did you mean "openai"\?/],
  [{ providers: { mine: {} } }, /`models\.providers\.mine` needs `base_url`/],
  [{ providers: { mine: { base_url: "ftp://example.com" } } }, /is not a URL/],
  [{ providers: { openai: { base_url: "https://me:hidden@example.com/v1" } } }, /a user name or a password/],
])("refuses %j, and the message gives the reason", (raw, message) => {
  expect(() => resolveModels(raw)).toThrow(OptionError);
  expect(() => resolveModels(raw)).toThrow(message);
});

test.each([
  ["openai/gpt-x", "OPENAI_API_KEY"],
  ["anthropic/claude-x", "ANTHROPIC_API_KEY"],
  ["mistral/mistral-large-latest", "MISTRAL_API_KEY"],
  ["google/gemini-x", "GOOGLE_GENERATIVE_AI_API_KEY"],
])("reports a missing key for %s in one line with the variable %s", async (name, variable) => {
  const error = await loadLanguageModel(name, resolveModels({})).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(OptionError);
  expect((error as Error).message).toContain(variable);
  expect((error as Error).message).not.toContain("\n");
});

test.each(["openai/gpt-x", "anthropic/claude-x", "mistral/m", "google/gemini-x", "ollama/org/model:7b"])(
  "creates a model of the AI SDK for %s",
  async (name) => {
    const variables = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", MISTRAL_API_KEY: "k", GOOGLE_API_KEY: "k" };
    const model = await loadLanguageModel(name, resolveModels({}, variables));
    expect(model.modelId).toBe(name.slice(name.indexOf("/") + 1));
  },
);
