import { OptionError } from "../core/errors.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { readOptions } from "../core/options/option-values.ts";
import type { Starts } from "../core/sources/table-facts.ts";
import { KIND_FACTS, KNOWN_PROVIDERS, MODEL_PROVIDER_KINDS, type VendorFacts } from "./kinds.ts";
import { parseModelName } from "./model-name.ts";
import type { ModelProvider } from "./model-provider.ts";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

/**
 * Describes what a provider does to the user who accepts a configuration: it sends the vendor's key from the
 * environment to the configured URL.
 */
const PROVIDER_STARTS: Starts = {
  shownKeys: ["base_url"],
  before: "sends the key of its vendor, if there is one, to",
  sendsTo: ["base_url"],
};

const ProviderSchema = Type.Object({
  kind: Type.Optional(
    Type.Enum(MODEL_PROVIDER_KINDS, {
      description:
        "API of the provider. Default: the name of the entry if it is `openai`, `anthropic`, `mistral`, `google` " +
        "or `ollama`; any other name is `openai-compatible`.",
    }),
  ),
  base_url: Type.Optional(
    Type.String({
      description:
        "Base URL of the API, such as `http://127.0.0.1:11434/v1`. " +
        "Absent: the vendor's variable (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, `MISTRAL_BASE_URL`, " +
        "`GOOGLE_GEMINI_BASE_URL`, `OLLAMA_BASE_URL`), else the vendor's own URL.",
      minLength: 1,
    }),
  ),
  api_key: Type.Optional(
    Type.Secret({
      description:
        "Absent: the vendor's variable (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `MISTRAL_API_KEY`, " +
        "`GOOGLE_GENERATIVE_AI_API_KEY`, `OLLAMA_API_KEY`).",
      examples: ["${OPENAI_API_KEY}"],
    }),
  ),
  headers: Type.Optional(
    Type.Record(Type.Secret(), { description: "Additional headers of every request to this provider.", default: {} }),
  ),
  api: Type.Optional(
    Type.Enum(["responses", "chat"], {
      description:
        "With `openai`: API for language models. Absent: `responses` at OpenAI; at another " +
        "URL also `responses`, or `chat` if the server does not support it.",
    }),
  ),
});

/** Schema of `[models]` in the configuration. */
export const ModelsSchema = Type.Object(
  {
    language: Type.Optional(
      Type.String({
        description: "Model of the agent, as `provider/model`.",
        examples: ["mistral/mistral-large-latest", "ollama/qwen3"],
        minLength: 1,
      }),
    ),
    image: Type.Optional(
      Type.String({
        description: "Image model, as `provider/model`.",
        examples: ["openai/gpt-image-1"],
        minLength: 1,
      }),
    ),
    embedding: Type.Optional(
      Type.String({
        description: "Embedding model, as `provider/model`, for tool search by meaning.",
        examples: ["openai/text-embedding-3-small", "ollama/nomic-embed-text"],
        minLength: 1,
      }),
    ),
    providers: Type.Optional(
      Type.Record(Type.Table(ProviderSchema, { starts: PROVIDER_STARTS }), {
        description: "Model providers, by name. The vendors' names need no entry.",
        default: {},
      }),
    ),
  },
  { description: "Language, image and embedding models, and their providers." },
);
export type ModelsConfig = Static<typeof ModelsSchema>;
type ProviderConfig = Static<typeof ProviderSchema>;

export interface ModelsOptions {
  /** Language model as `provider/model`. */
  readonly language?: string;
  /** Image model as `provider/model`. */
  readonly image?: string;
  /** Embedding model as `provider/model`. */
  readonly embedding?: string;
  readonly providers: Readonly<Record<string, ModelProvider>>;
}

/**
 * Returns the options with the vendors' usual variables and URLs. Throws an `OptionError` for an invalid URL, a name
 * that is not `provider/model`, or an unknown provider.
 */
export function resolveModels(raw: ModelsConfig = {}, variables: EnvironmentVariables = {}): ModelsOptions {
  const { providers: given, language, image, embedding } = readOptions(ModelsSchema, raw, "models.");
  const names = new Set([...Object.keys(KNOWN_PROVIDERS), ...Object.keys(given)]);
  const providers = Object.fromEntries(
    Array.from(names, (name) => [name, resolveProvider(name, given[name], variables)]),
  );
  for (const model of [language, image, embedding]) if (model !== undefined) parseModelName(model, providers);
  return Object.freeze({
    ...(language !== undefined && { language }),
    ...(image !== undefined && { image }),
    ...(embedding !== undefined && { embedding }),
    providers: Object.freeze(providers),
  });
}

function resolveProvider(
  name: string,
  raw: ProviderConfig | undefined,
  variables: EnvironmentVariables,
): ModelProvider {
  const options = readOptions(ProviderSchema, raw, `models.providers.${name}.`);
  const { headers, api } = options;
  const known = Object.hasOwn(KNOWN_PROVIDERS, name) ? KNOWN_PROVIDERS[name] : undefined;
  const kind = options.kind ?? known?.kind ?? "openai-compatible";
  const facts = known?.kind === kind ? known.facts : KIND_FACTS[kind];
  const baseUrl = resolveBaseUrl({ name, given: options.base_url }, facts, variables);
  const apiKey = keyOf(options.api_key, facts, variables);
  if (kind === "openai-compatible" && baseUrl === undefined) {
    throw new OptionError(`\`models.providers.${name}\` needs \`base_url\`, such as "http://127.0.0.1:8000/v1".`);
  }
  return Object.freeze({
    name,
    kind,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
    keyVariables: facts.keyVariables,
    needsKey: facts.needsKey,
    headers,
    api: api ?? usualApi(baseUrl),
  });
}

function usualApi(baseUrl: string | undefined): ModelProvider["api"] {
  return baseUrl === undefined || /(?:^|\.)openai\.com$/.test(new URL(baseUrl).hostname) ? "responses" : "detect";
}

/** Returns the key of a provider. An empty key counts as absent. */
function keyOf(
  given: string | undefined,
  { keyVariables }: VendorFacts,
  variables: EnvironmentVariables,
): string | undefined {
  return given === undefined ? firstSet(keyVariables, variables) : given || undefined;
}

function firstSet(names: readonly string[], variables: EnvironmentVariables): string | undefined {
  return names.map((name) => variables[name]).find((value) => value !== undefined && value !== "");
}

function resolveBaseUrl(
  { name, given }: { readonly name: string; readonly given: string | undefined },
  facts: VendorFacts,
  variables: EnvironmentVariables,
): string | undefined {
  if (given !== undefined) return checkedUrl(given, `models.providers.${name}.base_url`);
  const fromVariable = facts.baseUrlVariable === undefined ? undefined : variables[facts.baseUrlVariable];
  if (fromVariable === undefined || fromVariable === "") return facts.baseUrl;
  return withVersion(checkedUrl(fromVariable, facts.baseUrlVariable!), facts.versionPath);
}

/** Appends the version path to a URL that was written for a vendor's own client. */
export function withVersion(url: string, versionPath: string | undefined): string {
  return versionPath === undefined || /\/v\d[a-z0-9]*$/.test(url) ? url : `${url}${versionPath}`;
}

// A URL may contain a key, so messages do not repeat it.
function checkedUrl(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new OptionError(`\`${where}\` is not a URL. It must look like https://api.example.com/v1.`);
  if (url.username !== "" || url.password !== "")
    throw new OptionError(
      `\`${where}\` contains a user name or a password. Put credentials into \`api_key\` or \`headers\`.`,
    );
  return text.replace(/(?<!\/)\/+$/, "");
}
