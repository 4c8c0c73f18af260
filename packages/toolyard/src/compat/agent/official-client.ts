import { OptionError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { LoadedLanguageModel } from "../../models/given-model.ts";
import { KIND_FACTS } from "../../models/kinds.ts";
import { loadClientModel, loadLanguageModel } from "../../models/language-model.ts";
import { resolveModels, withVersion, type ModelsConfig } from "../../models/options.ts";
import { clientFetch, clientVendor, type ClientVendor } from "./client-fetch.ts";

/**
 * Instance of the official client of OpenAI, Anthropic or Mistral; a client with the same method
 * (`chat.completions.create`, `messages.create`, `chat.complete`); or a language model of the AI SDK.
 */
export type LLMClient = LoadedLanguageModel | object;

/** Default model of each vendor. */
const DEFAULT_MODELS: Readonly<Record<ClientVendor, string>> = {
  openai: "gpt-5.5",
  anthropic: "claude-sonnet-5",
  mistral: "mistral-large-latest",
};

/**
 * Creates a model from a vendor's client, or returns a model of the AI SDK. Requests call the client's own method if it
 * has one, so all options of the client apply. Throws an `OptionError` for any other value.
 */
export function toLanguageModel(client: LLMClient, model?: string): () => Promise<LoadedLanguageModel> {
  const given: unknown = client;
  if (typeof given !== "object" || given === null) throw notOne();
  if (isLanguageModel(client)) return () => Promise.resolve(client);
  let loading: Promise<LoadedLanguageModel> | undefined;
  const vendor = clientVendor(client);
  if (vendor === undefined) {
    const provider = addressOf(client);
    if (!provider) throw notOne();
    const name = `openai/${model ?? DEFAULT_MODELS.openai}`;
    return () => (loading ??= loadLanguageModel(name, resolveModels({ providers: { openai: provider } })));
  }
  return () => (loading ??= loadClientModel(vendor, model ?? DEFAULT_MODELS[vendor], clientFetch(client, vendor)));
}

/** Returns URL and key of an OpenAI client without methods, so that requests can be sent without it. */
function addressOf(client: object): NonNullable<ModelsConfig["providers"]>[string] | undefined {
  const { apiKey, baseURL, chat } = client as Readonly<Record<string, unknown>>;
  if (!isJsonObject(chat) || typeof apiKey !== "string" || typeof baseURL !== "string") return undefined;
  const address = withVersion(baseURL.replace(/(?<!\/)\/+$/, ""), KIND_FACTS.openai.versionPath);
  return { kind: "openai", api: "chat", base_url: address, api_key: apiKey };
}

function notOne(): OptionError {
  return new OptionError(
    "`llmClient` must be a client of OpenAI, Anthropic or Mistral, or a language model of the AI SDK.",
  );
}

function isLanguageModel(client: LLMClient): client is LoadedLanguageModel {
  return (
    isJsonObject(client) &&
    typeof client["specificationVersion"] === "string" &&
    typeof client["doGenerate"] === "function"
  );
}
