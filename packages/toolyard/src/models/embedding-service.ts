import { OptionError } from "../core/errors.ts";
import type { EnvironmentVariables } from "../core/environment-variables.ts";
import type { ModelProviderKind } from "./kinds.ts";
import { assertKey, parseModelName } from "./model-name.ts";
import type { ModelProvider } from "./model-provider.ts";
import { resolveModels, type ModelsConfig } from "./options.ts";

/** The embedding API of a provider, in the form that OpenAI defined. */
export interface EmbeddingService {
  readonly url: string;
  readonly model: string;
  readonly key?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Addresses of vendors whose base URL is not configured. */
const VENDOR_URLS: Readonly<Partial<Record<ModelProviderKind, string>>> = {
  openai: "https://api.openai.com/v1",
  mistral: "https://api.mistral.ai/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
};

/**
 * Returns the service of `models.embedding`. Throws an `OptionError` if that option is missing, names a provider
 * without embedding models, or if the key that the provider requires is missing.
 */
export function resolveEmbeddingService(models: ModelsConfig = {}, variables: EnvironmentVariables): EmbeddingService {
  const { provider, model } = embeddingModel(models, variables);
  assertKey(provider);
  const { apiKey, headers } = provider;
  return { url: serviceUrl(provider), model, ...(apiKey !== undefined && { key: apiKey }), headers };
}

/**
 * Variables that give the library no embedding service. Empty values select the table of token vectors in the package.
 */
export const NO_EMBEDDING_SERVICE = {
  LIBRARY_EMBED_URL: "",
  LIBRARY_EMBED_MODEL: "",
  LIBRARY_EMBED_KEY: "",
  LIBRARY_EMBED_HEADERS: "",
};

/** Returns the service of `models.embedding` as variables of the library. Throws like `resolveEmbeddingService`. */
export function embeddingVariables(models: ModelsConfig, variables: EnvironmentVariables): Record<string, string> {
  const { url, model, key, headers } = resolveEmbeddingService(models, variables);
  return {
    ...NO_EMBEDDING_SERVICE,
    LIBRARY_EMBED_URL: url,
    LIBRARY_EMBED_MODEL: model,
    ...(key !== undefined && { LIBRARY_EMBED_KEY: key }),
    ...(Object.keys(headers).length > 0 && { LIBRARY_EMBED_HEADERS: JSON.stringify(headers) }),
  };
}

/** Throws an `OptionError` unless `models.embedding` names a model of a provider that has embedding models. */
export function assertEmbeddingModel(models?: ModelsConfig): void {
  embeddingModel(models, {});
}

function embeddingModel(
  models: ModelsConfig = {},
  variables: EnvironmentVariables,
): { readonly provider: ModelProvider; readonly model: string } {
  const { embedding, providers } = resolveModels(models, variables);
  if (embedding === undefined)
    throw new OptionError(
      '`library.embedding` is "models", but `models.embedding` is not set. Set it to `provider/model`, such as ' +
        '"ollama/bge-m3".',
    );
  const { provider, model } = parseModelName(embedding, providers);
  serviceUrl(provider);
  return { provider, model };
}

// Returns the URL of the embedding API. Google's own API has another form; the common form is served below this path.
function serviceUrl({ name, kind, baseUrl = VENDOR_URLS[kind] }: ModelProvider): string {
  if (kind === "anthropic" || baseUrl === undefined)
    throw new OptionError(
      `${name} has no embedding models. Set \`models.embedding\` to one of openai, google, mistral or an ` +
        "OpenAI-compatible provider.",
    );
  return kind === "google" ? `${baseUrl}/openai` : baseUrl;
}
