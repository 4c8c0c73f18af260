import type { EmbeddingModel } from "ai";
import { OptionError } from "../core/errors.ts";
import type { Embedder } from "../core/ports/models.ts";
import { outboundFailure } from "../outbound/failures.ts";
import type { OutboundClient } from "../outbound/outbound-client.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { settingsOf } from "./language-model.ts";
import { toModelFailure } from "./model-failure.ts";
import { assertKey, parseModelName } from "./model-name.ts";
import type { ModelProvider } from "./model-provider.ts";
import type { ModelsOptions } from "./options.ts";
import { PACKAGES } from "./packages.ts";

type LoadedEmbeddingModel = Exclude<EmbeddingModel, string>;

const PURPOSE = "embeddings by that provider";
/** Time limit of one request, in milliseconds. Callers set shorter limits. */
const TIMEOUT_MS = 120_000;
/** Maximum size of a response: a hundred vectors of 4,096 numbers as text. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Number of retries after a temporary failure. */
const RETRIES = 1;

/**
 * Creates an embedder that uses the model `provider/model`. Loads nothing and requires no key before the first text.
 * Throws an `OptionError` for an invalid name.
 */
export function createEmbedder(
  name: string,
  { providers }: Pick<ModelsOptions, "providers">,
  client: OutboundClient,
): Embedder {
  const { provider, model: id } = parseModelName(name, providers);
  const service = `The embedding model of ${provider.name}`;
  let loaded: Promise<LoadedEmbeddingModel> | undefined;
  return {
    model: `${provider.baseUrl ?? provider.kind} ${id}`,
    embed: async (texts, signal) => {
      try {
        assertKey(provider);
        const model = await (loaded ??= loadEmbeddingModel({ provider, id, service }, client));
        const { embedMany } = await PACKAGES.sdk(PURPOSE);
        const { embeddings } = await embedMany({ model, values: [...texts], maxRetries: RETRIES, abortSignal: signal });
        return checked(embeddings, texts.length, service);
      } catch (error) {
        throw toModelFailure(error, service, signal);
      }
    },
  };
}

function checked(
  vectors: readonly (readonly number[])[],
  count: number,
  service: string,
): readonly (readonly number[])[] {
  const length = vectors[0]?.length ?? 0;
  const isWhole =
    vectors.length === count &&
    length > 0 &&
    vectors.every((vector) => vector.length === length && vector.every(Number.isFinite));
  if (!isWhole)
    throw outboundFailure("malformed", {
      service,
      what: `returned ${vectors.length} vectors for ${count} texts, or invalid vectors.`,
    });
  return vectors;
}

async function loadEmbeddingModel(
  { provider, id, service }: { readonly provider: ModelProvider; readonly id: string; readonly service: string },
  client: OutboundClient,
): Promise<LoadedEmbeddingModel> {
  const { baseUrl } = provider;
  const settings = {
    ...settingsOf(provider),
    fetch: boundedFetch({
      service,
      client,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      ...(baseUrl === undefined ? {} : { baseUrl }),
    }),
  };
  switch (provider.kind) {
    case "openai":
      return (await PACKAGES.openai(PURPOSE)).createOpenAI(settings).embeddingModel(id);
    case "google":
      return (await PACKAGES.google(PURPOSE)).createGoogleGenerativeAI(settings).embeddingModel(id);
    case "mistral":
      return (await PACKAGES.mistral(PURPOSE)).createMistral(settings).embeddingModel(id);
    case "openai-compatible":
      return (await PACKAGES.compatible(PURPOSE))
        .createOpenAICompatible({ ...settings, name: provider.name, baseURL: baseUrl ?? "" })
        .embeddingModel(id);
    default:
      throw new OptionError(
        `${provider.name} has no embedding models. Set \`models.embedding\` to one of openai, google, mistral ` +
          "or an OpenAI-compatible provider.",
      );
  }
}
