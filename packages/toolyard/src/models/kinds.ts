/** Protocols of model providers. */
export const MODEL_PROVIDER_KINDS = ["openai", "anthropic", "mistral", "google", "openai-compatible"] as const;
export type ModelProviderKind = (typeof MODEL_PROVIDER_KINDS)[number];

/** Settings of one vendor that apply without configuration. */
export interface VendorFacts {
  /** Variables from which the vendor's own clients read the key. Messages mention the first one. */
  readonly keyVariables: readonly string[];
  /** Variable from which the vendor's own clients read the URL. */
  readonly baseUrlVariable?: string;
  /** Base URL. Absent: the AI SDK's default. */
  readonly baseUrl?: string;
  readonly needsKey: boolean;
  /** Version path that the AI SDK requires in the base URL. The vendors' own clients omit it. */
  readonly versionPath?: string;
}

export const KIND_FACTS: Readonly<Record<ModelProviderKind, VendorFacts>> = {
  openai: { keyVariables: ["OPENAI_API_KEY"], baseUrlVariable: "OPENAI_BASE_URL", needsKey: true },
  anthropic: {
    keyVariables: ["ANTHROPIC_API_KEY"],
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    needsKey: true,
    versionPath: "/v1",
  },
  mistral: {
    keyVariables: ["MISTRAL_API_KEY"],
    baseUrlVariable: "MISTRAL_BASE_URL",
    needsKey: true,
    versionPath: "/v1",
  },
  google: {
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    baseUrlVariable: "GOOGLE_GEMINI_BASE_URL",
    needsKey: true,
    versionPath: "/v1beta",
  },
  "openai-compatible": { keyVariables: [], needsKey: false },
};

/** Providers that need no configuration. */
export const KNOWN_PROVIDERS: Readonly<
  Record<string, { readonly kind: ModelProviderKind; readonly facts: VendorFacts }>
> = {
  ...Object.fromEntries(
    MODEL_PROVIDER_KINDS.filter((kind) => kind !== "openai-compatible").map((kind) => [
      kind,
      { kind, facts: KIND_FACTS[kind] },
    ]),
  ),
  ollama: {
    kind: "openai-compatible",
    facts: {
      keyVariables: ["OLLAMA_API_KEY"],
      baseUrlVariable: "OLLAMA_BASE_URL",
      baseUrl: "http://127.0.0.1:11434/v1",
      needsKey: false,
      versionPath: "/v1",
    },
  },
};
