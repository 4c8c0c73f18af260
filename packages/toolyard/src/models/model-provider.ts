import type { ModelProviderKind } from "./kinds.ts";

/** A provider with resolved settings. A missing key is reported when a model is used. */
export interface ModelProvider {
  readonly name: string;
  readonly kind: ModelProviderKind;
  /** Base URL for the AI SDK, without a trailing slash; absent: the SDK's own. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Names of the variables in which the key was searched. Empty if no key is required. */
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** For `openai`: the API for language models. `detect` tries `responses` first, then `chat`. */
  readonly api: "responses" | "chat" | "detect";
}
