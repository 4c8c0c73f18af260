import { eitherApi } from "./either-api.ts";
import type { LoadedLanguageModel } from "./given-model.ts";
import { assertKey, parseModelName } from "./model-name.ts";
import type { ModelProvider } from "./model-provider.ts";
import type { ModelsOptions } from "./options.ts";
import { PACKAGES } from "./packages.ts";

/**
 * Loads the language model `provider/model` with the vendor's client. Rejects with an `OptionError` for an invalid name
 * or a missing key. Sends no request.
 */
export async function loadLanguageModel(
  name: string,
  { providers }: Pick<ModelsOptions, "providers">,
): Promise<LoadedLanguageModel> {
  const { provider, model } = parseModelName(name, providers);
  assertKey(provider);
  return LOADERS[provider.kind](provider, model);
}

type ModelLoader = (provider: ModelProvider, model: string) => Promise<LoadedLanguageModel>;

const PURPOSE = "a model of that provider";

const LOADERS: Readonly<Record<ModelProvider["kind"], ModelLoader>> = {
  openai: async (provider, model) => {
    const openai = (await PACKAGES.openai(PURPOSE)).createOpenAI(settingsOf(provider));
    if (provider.api === "chat") return openai.chat(model);
    const responses = openai.responses(model);
    return provider.api === "responses" ? responses : eitherApi(responses, openai.chat(model), provider.baseUrl ?? "");
  },
  anthropic: async (provider, model) =>
    (await PACKAGES.anthropic(PURPOSE)).createAnthropic(settingsOf(provider))(model),
  mistral: async (provider, model) => (await PACKAGES.mistral(PURPOSE)).createMistral(settingsOf(provider))(model),
  google: async (provider, model) =>
    (await PACKAGES.google(PURPOSE)).createGoogleGenerativeAI(settingsOf(provider))(model),
  "openai-compatible": async (provider, model) =>
    (await PACKAGES.compatible(PURPOSE)).createOpenAICompatible({
      ...settingsOf(provider),
      name: provider.name,
      baseURL: provider.baseUrl ?? "",
      includeUsage: true,
    })(model),
};

/** Returns the options that every vendor's constructor accepts, also for image models. */
export function settingsOf({ apiKey, baseUrl, headers }: ModelProvider): {
  apiKey?: string;
  baseURL?: string;
  headers: Record<string, string>;
} {
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    headers: { ...headers },
  };
}

/** Placeholders for the key and the URL, which the constructor requires. They are never used. */
const NOWHERE = { apiKey: "client", baseURL: "http://client.invalid/v1" };

/**
 * Returns a vendor's model that makes all requests with `fetch`. Rejects with a `FailError` if the vendor's package is
 * not installed.
 */
export async function loadClientModel(
  vendor: "openai" | "anthropic" | "mistral",
  model: string,
  fetch: typeof globalThis.fetch,
): Promise<LoadedLanguageModel> {
  const settings = { ...NOWHERE, fetch };
  if (vendor === "anthropic") return (await PACKAGES.anthropic(PURPOSE)).createAnthropic(settings)(model);
  if (vendor === "mistral") return (await PACKAGES.mistral(PURPOSE)).createMistral(settings)(model);
  return (await PACKAGES.openai(PURPOSE)).createOpenAI(settings).chat(model);
}
