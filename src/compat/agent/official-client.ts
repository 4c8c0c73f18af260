import { OptionError } from "../../core/errors.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json.ts";
import type { LoadedLanguageModel } from "../../models/given-model.ts";
import { loadLanguageModel } from "../../models/language-model.ts";
import { KIND_FACTS } from "../../models/kinds.ts";
import { resolveModels, withVersion } from "../../models/options.ts";

/** An instance of the official client of OpenAI, Anthropic or Mistral, or a language model of the AI SDK. */
export type LLMClient = LoadedLanguageModel | object;

type ClientVendor = "openai" | "anthropic" | "mistral";

/** Models that are asked where none is named. */
const DEFAULT_MODELS: Readonly<Record<ClientVendor, string>> = {
  openai: "gpt-5.5",
  anthropic: "claude-sonnet-5",
  mistral: "mistral-large-latest",
};

/**
 * Makes the AI SDK's model of a client: its key and its address are used, the client itself is not. Throws an
 * `OptionError` for anything else. A key that the client gets by a function is asked for once.
 */
export function toLanguageModel(client: LLMClient, model?: string): () => Promise<LoadedLanguageModel> {
  if (isLanguageModel(client)) return () => Promise.resolve(client);
  const vendor = clientVendor(client);
  if (vendor === undefined)
    throw new OptionError(
      "`llmClient` must be a client of OpenAI, Anthropic or Mistral, or a language model of the AI SDK.",
    );
  let loading: Promise<LoadedLanguageModel> | undefined;
  return () => (loading ??= load(vendor, client as JsonObject, model ?? DEFAULT_MODELS[vendor]));
}

function isLanguageModel(client: LLMClient): client is LoadedLanguageModel {
  return (
    isJsonObject(client) &&
    typeof client["specificationVersion"] === "string" &&
    typeof client["doGenerate"] === "function"
  );
}

// By what the clients can do, since a bundler may rename their classes and a program may hold two versions of one.
function clientVendor(client: object): ClientVendor | undefined {
  if (!isJsonObject(client)) return undefined;
  if (isJsonObject(client["messages"]) && "apiKey" in client) return "anthropic";
  if (isJsonObject(client["chat"]) && typeof client["baseURL"] === "string") return "openai";
  return isJsonObject(client["chat"]) && isJsonObject(client["_options"]) ? "mistral" : undefined;
}

async function load(vendor: ClientVendor, client: JsonObject, model: string): Promise<LoadedLanguageModel> {
  const options = objectMember(client, "_options") ?? {};
  const key = await keyOf(client, options);
  const address =
    stringMember(client, "baseURL") ?? (client["_baseURL"] instanceof URL ? client["_baseURL"].href : undefined);
  const baseUrl = address?.replace(/\/+$/, "");
  const provider = {
    kind: vendor,
    // The address of a client may belong to anything that speaks chat completions.
    api: "chat" as const,
    ...(baseUrl === undefined ? {} : { base_url: withVersion(baseUrl, KIND_FACTS[vendor].versionPath) }),
    ...(key === undefined ? {} : { api_key: key }),
  };
  return loadLanguageModel(`${vendor}/${model}`, resolveModels({ providers: { [vendor]: provider } }));
}

async function keyOf(client: JsonObject, options: JsonObject): Promise<string | undefined> {
  const given = options["apiKey"];
  const key: unknown = typeof given === "function" ? await (given as () => unknown)() : (client["apiKey"] ?? given);
  return typeof key === "string" && key !== "" ? key : undefined;
}
