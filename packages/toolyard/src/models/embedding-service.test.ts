import { describe, expect, test } from "vitest";
import { assertEmbeddingModel, resolveEmbeddingService } from "./embedding-service.ts";

describe("resolveEmbeddingService", () => {
  test.each([
    ["openai/text-embedding-3-small", { OPENAI_API_KEY: "k" }, "https://api.openai.com/v1", "text-embedding-3-small"],
    ["openai/m", { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }, "http://127.0.0.1:1/v1", "m"],
    ["mistral/mistral-embed", { MISTRAL_API_KEY: "k" }, "https://api.mistral.ai/v1", "mistral-embed"],
    [
      "google/gemini-embedding-001",
      { GEMINI_API_KEY: "k" },
      "https://generativelanguage.googleapis.com/v1beta/openai",
      "gemini-embedding-001",
    ],
  ])("returns the address and the key of %s", (embedding, variables, url, model) => {
    expect(resolveEmbeddingService({ embedding }, variables)).toEqual({ url, model, key: "k", headers: {} });
  });

  test("returns no key for a local server that requires none", () => {
    const url = "http://127.0.0.1:11434/v1";
    expect(resolveEmbeddingService({ embedding: "ollama/bge-m3" }, {})).toEqual({ url, model: "bge-m3", headers: {} });
  });

  test("returns address, key and headers of a configured provider", () => {
    const mine = { base_url: "http://127.0.0.1:1234/v1", api_key: "own", headers: { "x-team": "history" } };
    expect(resolveEmbeddingService({ embedding: "mine/a/b", providers: { mine } }, {})).toEqual({
      url: "http://127.0.0.1:1234/v1",
      model: "a/b",
      key: "own",
      headers: { "x-team": "history" },
    });
  });

  test.each([
    ["an option that is not set", {}, "`models.embedding` is not set"],
    ["a provider without embedding models", { embedding: "anthropic/claude" }, "anthropic has no embedding models"],
    ["an unknown provider", { embedding: "olama/bge-m3" }, 'Did you mean "ollama"'],
    ["a name without a provider", { embedding: "bge-m3" }, "provider/model"],
  ])("refuses %s", (_case, models, message) => {
    expect(() => resolveEmbeddingService(models, {})).toThrow(message);
    expect(() => assertEmbeddingModel(models)).toThrow(message);
  });

  test("refuses a vendor without its key, which the check of the configuration does not need", () => {
    const models = { embedding: "openai/text-embedding-3-small" };
    expect(() => resolveEmbeddingService(models, {})).toThrow("OPENAI_API_KEY");
    expect(() => assertEmbeddingModel(models)).not.toThrow();
  });
});
