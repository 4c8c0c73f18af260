import type { LoadedLanguageModel } from "./given-model.ts";
import { assertKey, parseModelName } from "./model-name.ts";
import type { ModelProvider } from "./model-provider.ts";
import type { ModelsOptions } from "./options.ts";
import { PACKAGES } from "./packages.ts";

/**
 * Makes the language model that `provider/model` names; nothing of the vendor's client is loaded before. Rejects with
 * an `OptionError` for a name that says nothing and for a missing key. No request is made.
 */
export async function loadLanguageModel(
  name: string,
  { providers }: Pick<ModelsOptions, "providers">,
): Promise<LoadedLanguageModel> {
  const { provider, model } = parseModelName(name, providers);
  assertKey(provider);
  return LOADERS[provider.kind](provider, model);
}

type Loader = (provider: ModelProvider, model: string) => Promise<LoadedLanguageModel>;

const PURPOSE = "a model of that provider";

const LOADERS: Readonly<Record<ModelProvider["kind"], Loader>> = {
  openai: async (provider, model) => {
    const openai = (await PACKAGES.openai(PURPOSE)).createOpenAI(settingsOf(provider));
    return provider.api === "chat" ? openai.chat(model) : openai.responses(model);
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

/** What every vendor's constructor takes. Image models are made of the same. */
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

/** A key and an address must be given, and are never used. */
const NOWHERE = { apiKey: "client", baseURL: "http://client.invalid/v1" };

/** The model of a vendor whose requests all go to `fetch`. Rejects with a `FailError` where its package is left out. */
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
